import type { SingleBar } from "cli-progress";
import type { Output } from "./io.ts";
import { notice } from "./output.ts";
import { progressBar } from "./progress-bar.ts";

/** Interval of lines where a terminal does not redraw one line. */
const WAIT_LINE_MS = 5_000;

/** Shows the state that a command waits for, so that it does not seem to hang. */
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
