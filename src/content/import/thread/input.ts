import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { ImportError } from "../../../documents/errors.ts";
import { IMPORT_READ_BYTES } from "../../../domain/limits.ts";
import { Problem } from "../../../domain/problem/problem.ts";
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

/** Throws an ImportError for whatever the file system refuses. */
function explained(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  throw new ImportError(
    isFull ? "The disk that holds uploads is full" : `Uploads cannot be stored (${code})`,
  );
}

/**
 * A file without a name, which vanishes with its last handle, however the process ends. A file with a name is
 * about to lose it, or its process was killed before.
 */
async function openNameless(folder: string): Promise<FileHandle> {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, crypto.randomUUID());
  const file = await open(path, "wx+", 0o600);
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
  return file;
}

async function* contentsOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await file.read({
        buffer: Buffer.allocUnsafe(IMPORT_READ_BYTES),
        position,
      });
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/**
 * Resolves with the whole input once all of it has arrived, however slowly. Until it is read, it is in a file in this
 * folder. Throws the error of the input, and an ImportError when it cannot be stored.
 */
export async function spooled(
  input: AsyncIterable<Uint8Array>,
  folder: string,
): Promise<AsyncIterable<Uint8Array>> {
  const file = await openNameless(folder).catch(explained);
  try {
    for await (const piece of input) await file.writeFile(piece).catch(explained);
    return contentsOf(file);
  } catch (error) {
    await file.close();
    throw error;
  }
}
