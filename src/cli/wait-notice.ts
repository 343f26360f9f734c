import type { SingleBar } from "cli-progress";
import type { Output } from "./io.ts";
import { notice } from "./output.ts";
import { progressBar } from "./progress-bar.ts";

/** How often a waiting command writes a line where no terminal shows a line that is redrawn. */
const WAIT_LINE_MS = 5_000;

/** Says what a command waits for, so that it is not taken for one that hangs. */
export class WaitNotice {
  readonly #bar: SingleBar | undefined;
  readonly #timer: Timer | undefined;
  #text = "";

  constructor(stderr: Output) {
    this.#bar = progressBar(stderr, "{text}");
    this.#bar?.start(0, 0, { text: "" });
    if (this.#bar !== undefined) return;
    this.#timer = setInterval(() => {
      if (this.#text !== "") notice({ stderr }, this.#text);
    }, WAIT_LINE_MS);
  }

  show(text: string): void {
    this.#text = text;
    this.#bar?.update(0, { text });
  }

  stop(): void {
    this.#bar?.stop();
    clearInterval(this.#timer);
  }
}
