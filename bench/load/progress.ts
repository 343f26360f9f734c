import { SingleBar } from "cli-progress";

/** A progress bar on standard error. */
export interface Progress {
  update(value: number, shown?: Readonly<Record<string, string | number>>): void;
  setTotal(total: number): void;
  stop(): void;
}

const SILENT: Progress = { update: () => {}, setTotal: () => {}, stop: () => {} };

/** Draws nothing when standard error is no terminal. */
export function progress(
  format: string,
  total: number,
  shown: Readonly<Record<string, string | number>> = {},
): Progress {
  if (!process.stderr.isTTY) return SILENT;
  const bar = new SingleBar({
    format,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: true,
  });
  bar.start(total, 0, shown);
  return bar;
}
