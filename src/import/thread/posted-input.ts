import { ImportError } from "../records/errors.ts";
import type { ImportInput } from "./messages.ts";

/** The rest of the input will not arrive. */
export class InputLost extends ImportError {}

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

  /** Throws InputLost when the sender has given up, even if all of the input was there before. */
  requireSender(): void {
    if (this.#state === "lost") throw new InputLost("the sender of the input has given up");
  }

  /** Throws InputLost as soon as the rest of the input is lost. */
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
