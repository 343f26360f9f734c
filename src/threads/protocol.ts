/** What a supervised thread and its owner exchange. Everything can be cloned. */
export interface ThreadProtocol {
  /** What the thread is started with. */
  readonly options: unknown;
  /** Work that has one result. */
  readonly task: unknown;
  readonly result: unknown;
  /** What the owner tells the thread beside tasks. */
  readonly command: unknown;
  /** What the thread tells its owner beside results. */
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
