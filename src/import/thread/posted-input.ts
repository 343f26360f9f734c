import { Problem } from "../../problem/problem.ts";
import type { ImportInput } from "./messages.ts";

/** The input of an import as it is posted to its thread. It is read once. */
export class PostedInput {
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  #state: "open" | "ended" | "lost" = "open";
  #wake = () => {};

  /** `onTaken` receives the size of each piece when it leaves the queue. */
  constructor(private readonly onTaken: (bytes: number) => void) {}

  receive(message: ImportInput): void {
    if (message.type === "bytes") this.#pieces.push(message.bytes);
    else this.#state = message.type === "end" ? "ended" : "lost";
    this.#wake();
  }

  /** Throws `validation-failed` when the sender has given up, even if all of the input was there before. */
  requireSender(): void {
    if (this.#state !== "lost") return;
    throw new Problem("validation-failed", { detail: "The body could not be read." });
  }

  /** Throws `validation-failed` as soon as the rest of the input is lost. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.requireSender();
      const piece = this.#pieces.shift();
      if (piece !== undefined) {
        this.onTaken(piece.byteLength);
        yield piece;
      } else if (this.#state === "ended") {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
