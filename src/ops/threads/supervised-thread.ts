import { type Transferable, Worker } from "node:worker_threads";
import pTimeout from "p-timeout";
import type { FromThread, ThreadProtocol, ToThread } from "./protocol.ts";

interface ThreadSettings<P extends ThreadProtocol> {
  /** The module that the thread runs; it calls `runThread`. */
  readonly entry: URL;
  readonly name: string;
  readonly options: P["options"];
  /** The pause before a thread that ended is started again. Without it, the thread ends for good. */
  readonly restartMs?: number;
  /** The time that a thread without tasks is kept. Without it, the thread is kept until it is closed. */
  readonly idleMs?: number;
  receive?(event: P["event"]): void;
  /** Called when the thread has ended without a call of `close`, before it is started again. */
  crashed?(error: Error): void;
}

/** Failures of a task in a restarted thread until the task is rejected. */
const TASK_ATTEMPTS = 2;

interface Unanswered<P extends ThreadProtocol> {
  readonly message: ToThread<P>;
  readonly answer: PromiseWithResolvers<P["result"]>;
  /** The number of times that the task has failed, or its thread has ended. */
  failures: number;
}

/**
 * The owner's side of a thread. With `restartMs`, a thread that ended is restarted and gets its unanswered tasks again,
 * and the thread keeps the process alive. Without it, the thread keeps the process alive only while it has tasks, which
 * are rejected when it ends. A task that fails twice is rejected, so that it cannot end one thread after the other.
 */
export class SupervisedThread<P extends ThreadProtocol> {
  #worker: Worker | undefined;
  #isClosing = false;
  #lastTicket = 0;
  readonly #unanswered = new Map<number, Unanswered<P>>();
  readonly #stopped = Promise.withResolvers<void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly settings: ThreadSettings<P>) {
    this.#start();
  }

  /** Tasks without a result. */
  get load(): number {
    return this.#unanswered.size;
  }

  /** True once the thread does not accept tasks. */
  get hasEnded(): boolean {
    return this.#isClosing || (this.#worker === undefined && !this.#isRestarted);
  }

  /**
   * Resolves with the result of the task; rejects when the task has failed too often.
   * @param transfer empty for a thread that is restarted, because transferred data cannot be sent again
   */
  run(task: P["task"], transfer: Transferable[] = []): Promise<P["result"]> {
    const answer = Promise.withResolvers<P["result"]>();
    const message: ToThread<P> = { type: "task", ticket: ++this.#lastTicket, task };
    this.#unanswered.set(message.ticket, { message, answer, failures: 0 });
    if (!this.#isRestarted) clearTimeout(this.#timer);
    this.#worker?.ref();
    this.#worker?.postMessage(message, transfer);
    return answer.promise;
  }

  /** Sends a command to the thread. Between a crash and the restart the command is lost. */
  tell(command: P["command"], transfer: Transferable[] = []): void {
    const message: ToThread<P> = { type: "command", command };
    this.#worker?.postMessage(message, transfer);
  }

  /** Lets the thread finish work that must not be lost, within this time, and ends it. */
  async drain(limitMs: number): Promise<void> {
    this.#isClosing = true;
    const message: ToThread<P> = { type: "stop" };
    this.#worker?.postMessage(message);
    // Between the end of a thread and its restart, `stopped` would not arrive.
    if (this.#worker === undefined) this.#stopped.resolve();
    await pTimeout(this.#stopped.promise, { milliseconds: limitMs, message: false });
    await this.close();
  }

  /** Ends the thread immediately. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    await this.#worker?.terminate();
  }

  get #isRestarted(): boolean {
    return this.settings.restartMs !== undefined;
  }

  #start(): void {
    const { entry, name, options } = this.settings;
    const worker = new Worker(entry, { workerData: options, name });
    this.#worker = worker;
    // The event after an error is the exit.
    const end = (error: Error) => {
      if (this.#worker === worker) this.#end(error);
    };
    worker.on("message", (message: FromThread<P>) => this.#receive(message));
    worker.on("error", end);
    worker.on("exit", () => end(new Error(`the thread ${name} has ended`)));
    // Listeners keep a process alive.
    if (!this.#isRestarted && this.load === 0) worker.unref();
    for (const { message } of this.#unanswered.values()) worker.postMessage(message);
  }

  #receive(message: FromThread<P>): void {
    if (message.type === "event") this.settings.receive?.(message.event);
    else if (message.type === "stopped") this.#stopped.resolve();
    else if (message.type === "failed") this.#failed(message.ticket, message.error);
    else this.#answer(message.ticket, message.result);
  }

  #answer(ticket: number, result: P["result"]): void {
    this.#unanswered.get(ticket)?.answer.resolve(result);
    this.#forget(ticket);
  }

  /** Sends a task that has failed once to the same thread again. */
  #failed(ticket: number, error: Error): void {
    const task = this.#unanswered.get(ticket);
    if (task === undefined || this.#reject(ticket, task, error)) return;
    this.#worker?.postMessage(task.message);
  }

  /** Rejects a task that has failed too often. Returns true if it has. */
  #reject(ticket: number, task: Unanswered<P>, error: Error): boolean {
    if (this.#isRestarted && ++task.failures < TASK_ATTEMPTS) return false;
    task.answer.reject(error);
    this.#forget(ticket);
    return true;
  }

  #forget(ticket: number): void {
    this.#unanswered.delete(ticket);
    if (this.#unanswered.size === 0 && !this.#isRestarted) this.#rest();
  }

  #rest(): void {
    this.#worker?.unref();
    const { idleMs } = this.settings;
    if (idleMs === undefined) return;
    this.#timer = setTimeout(() => void this.close(), idleMs);
    this.#timer.unref();
  }

  #end(error: Error): void {
    this.#worker = undefined;
    const { crashed, restartMs } = this.settings;
    for (const [ticket, task] of [...this.#unanswered]) this.#reject(ticket, task, error);
    if (this.#isClosing) {
      this.#stopped.resolve();
      return;
    }
    crashed?.(error);
    if (restartMs !== undefined) this.#timer = setTimeout(() => this.#start(), restartMs);
  }
}
