import { SingleBar } from "cli-progress";
import type { Output } from "./io.ts";

/** A progress bar, if that is a terminal. The command starts and stops it, and handles signals itself. */
export function progressBar(stderr: Output, format: string): SingleBar | undefined {
  if (!stderr.isTTY) return undefined;
  return new SingleBar({
    ...{ format, stream: stderr, hideCursor: true, clearOnComplete: true, gracefulExit: false },
    etaBuffer: 50,
  });
}
