import type { Io } from "./io.ts";
import { notice, writeStyled } from "./output.ts";

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;
/** The status of a program that SIGPIPE ends. */
export const READER_GONE_STATUS = 141;
/** Shows the cursor and enables line wrapping, which a progress bar may have disabled. */
const RESTORE_TERMINAL = "\x1b[?25h\x1b[?7h\r\x1b[K";

/** Functions that close the resources of a running command. */
const closers = new WeakMap<Io, Set<() => Promise<void>>>();

/**
 * Closes a resource when the command ends, for whatever reason. The command may use it until then, or close it itself
 * and call the returned function.
 */
export function atEnd(io: Io, close: () => Promise<void>): () => void {
  const own = closers.get(io) ?? new Set();
  closers.set(io, own.add(close));
  return () => own.delete(close);
}

/** Closes the resources of a command that ends. */
export async function closeAll(io: Io): Promise<void> {
  for (const close of closers.get(io) ?? []) await close().catch(() => {});
  closers.delete(io);
}

/** The message about the results that stay, for an interruption now. */
let kept: (() => string) | undefined;

/**
 * Runs work that may take long. An interruption prints the message of `keeps`: the results that stay, and how to go on.
 */
export async function interruptible<T>(keeps: () => string, work: () => Promise<T>): Promise<T> {
  const outer = kept;
  kept = keeps;
  try {
    return await work();
  } finally {
    kept = outer;
  }
}

/** Closes the resources of the command when it is interrupted. Returns a function that removes the signal handlers. */
export function onInterruption(io: Io): () => void {
  const removers = Object.entries(SIGNALS).map(([signal, status]) => {
    const exit = async () => {
      if (io.stderr.isTTY) writeStyled(io.stderr, RESTORE_TERMINAL);
      notice(io, kept === undefined ? "interrupted" : `interrupted: ${kept()}`);
      await closeAll(io);
      process.exit(status);
    };
    process.once(signal, exit);
    return () => process.removeListener(signal, exit);
  });
  return () => {
    for (const remove of removers) remove();
  };
}

/** Watches whether the output of a command still has a reader. */
export class OutputWatch {
  /** The error of the output; its code is `EPIPE` if the reader has gone. */
  failure: NodeJS.ErrnoException | undefined;
  /** Resolves when the output has failed. */
  readonly failed: Promise<void>;

  constructor(private readonly io: Io) {
    this.failed = new Promise((resolve) => {
      // The listeners stay, because a stream without one throws its errors.
      for (const stream of [io.stdout, io.stderr]) {
        stream.on("error", (error) => {
          this.failure ??= error;
          resolve();
        });
      }
    });
  }

  /** Waits until all output is written, or has failed. */
  async settle(): Promise<void> {
    for (const stream of [this.io.stdout, this.io.stderr]) {
      if (stream.writableEnded || stream.destroyed) continue;
      await new Promise((resolve) => stream.write("", resolve));
    }
    // A stream calls its error listeners after the callback of the write.
    await Bun.sleep(0);
  }
}
