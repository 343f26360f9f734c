import { SingleBar } from "cli-progress";
import type { Output } from "./io.ts";
import { notice } from "./output.ts";

/** Interval of lines where a terminal does not redraw one line. */
const WAIT_LINE_MS = 5_000;

/** A progress bar, if that is a terminal. The command starts and stops it, and handles signals itself. */
export function progressBar(stderr: Output, format: string): SingleBar | undefined {
  if (!stderr.isTTY) return undefined;
  return new SingleBar({
    format,
    stream: stderr,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
    etaBuffer: 50,
  });
}

/** Runs work that starts and moves a progress bar, which is removed at its end. */
export async function withBar<T>(
  stderr: Output,
  format: string,
  work: (bar: SingleBar | undefined) => Promise<T>,
): Promise<T> {
  const bar = progressBar(stderr, format);
  try {
    return await work(bar);
  } finally {
    bar?.stop();
  }
}

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

/** Runs work that shows the state that it waits for. */
export async function waiting<T>(
  stderr: Output,
  work: (show: (text: string) => void) => Promise<T>,
): Promise<T> {
  const wait = new WaitNotice(stderr);
  try {
    return await work((text) => wait.show(text));
  } finally {
    wait.stop();
  }
}
