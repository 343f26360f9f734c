import { parentPort, workerData } from "node:worker_threads";
import type { FromThread, ThreadProtocol, ToThread } from "./protocol.ts";

/** The work of a supervised thread. */
interface ThreadWork<P extends ThreadProtocol> {
  /** Runs a task. If it throws, only this task fails, and the thread continues with the others. */
  run?(task: P["task"]): P["result"] | Promise<P["result"]>;
  receive?(command: P["command"]): void;
  /** Finishes work that must not be lost. The thread is ended afterwards. */
  stop?(): Promise<void>;
}

function post<P extends ThreadProtocol>(message: FromThread<P>): void {
  parentPort?.postMessage(message);
}

/** The options from the owner of this thread. */
export function threadOptions<P extends ThreadProtocol>(): P["options"] {
  return workerData as P["options"];
}

/** Sends an event to the owner of this thread. */
export function postEvent<P extends ThreadProtocol>(event: P["event"]): void {
  post<P>({ type: "event", event });
}

async function answer<P extends ThreadProtocol>(
  work: ThreadWork<P>,
  { ticket, task }: Extract<ToThread<P>, { readonly type: "task" }>,
): Promise<void> {
  try {
    post<P>({ type: "result", ticket, result: await work.run?.(task) });
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    post<P>({ type: "failed", ticket, error });
  }
}

/** Serves the owner of this thread until it is ended. Called once, by the thread's entry point. */
export function runThread<P extends ThreadProtocol>(work: ThreadWork<P>): void {
  parentPort?.on("message", async (message: ToThread<P>) => {
    if (message.type === "command") {
      work.receive?.(message.command);
    } else if (message.type === "task") {
      await answer<P>(work, message);
    } else {
      await work.stop?.();
      post<P>({ type: "stopped" });
    }
  });
}
