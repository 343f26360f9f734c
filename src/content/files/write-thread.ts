import { type PostedProblem, receivedProblem } from "../../domain/problem/posted-problem.ts";
import type { ThreadProtocol } from "../../ops/threads/protocol.ts";
import { SupervisedThread } from "../../ops/threads/supervised-thread.ts";
import type { NewText, Written } from "./change-file.ts";

/** The thread ends after this time without a large file, because it keeps the memory of the last. */
const WRITE_THREAD_IDLE_MS = 10_000;

interface WriteThreadOptions {
  readonly databaseUrl: string;
}

export interface WriteProtocol extends ThreadProtocol {
  readonly options: WriteThreadOptions;
  readonly task: NewText;
  readonly result: { readonly written: Written } | PostedProblem;
}

/** Stores large files on a thread of low priority, which runs only while there are some. */
export class WriteThread {
  #thread: SupervisedThread<WriteProtocol> | undefined;

  constructor(private readonly options: WriteThreadOptions) {}

  /** Runs `storeText` on the thread. The bytes of the text are transferred. Throws problems. */
  async store(text: NewText): Promise<Written> {
    const result = await this.#started().run(text, [text.bytes.buffer]);
    if ("written" in result) return result.written;
    throw receivedProblem(result);
  }

  /** Ends the thread. PostgreSQL rolls back its uncommitted work. */
  async close(): Promise<void> {
    await this.#thread?.close();
  }

  #started(): SupervisedThread<WriteProtocol> {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new SupervisedThread<WriteProtocol>({
        entry: new URL("./thread.ts", import.meta.url),
        name: "tessera-writes",
        options: this.options,
        idleMs: WRITE_THREAD_IDLE_MS,
      });
    }
    return this.#thread;
  }
}
