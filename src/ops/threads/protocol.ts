/** The types of the messages between a supervised thread and its owner. All of them can be cloned. */
export interface ThreadProtocol {
  /** The options at the start of the thread. */
  readonly options: unknown;
  /** Work that has one result. */
  readonly task: unknown;
  readonly result: unknown;
  /** A message from the owner to the thread, without a result. */
  readonly command: unknown;
  /** A message from the thread to its owner, other than a result. */
  readonly event: unknown;
}

export type ToThread<P extends ThreadProtocol> =
  | { readonly type: "task"; readonly ticket: number; readonly task: P["task"] }
  | { readonly type: "command"; readonly command: P["command"] }
  | { readonly type: "stop" };

export type FromThread<P extends ThreadProtocol> =
  | { readonly type: "result"; readonly ticket: number; readonly result: P["result"] }
  | { readonly type: "failed"; readonly ticket: number; readonly error: Error }
  | { readonly type: "event"; readonly event: P["event"] }
  | { readonly type: "stopped" };
