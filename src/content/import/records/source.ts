import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { ImportError } from "../../../documents/errors.ts";
import { IMPORT_READ_BYTES } from "../../../domain/limits.ts";
import { decompressed, type Encoding } from "../../../ops/compression/decompressed.ts";

/** A named stream of NDJSON. */
export interface Source {
  /** Names the source in error messages. */
  readonly name: string;
  /** Size before decompression, in bytes; null if unknown. */
  readonly size: number | null;
  /** Opens the decompressed stream. `onRead` receives the size of each piece before decompression. */
  open(onRead: (bytes: number) => void): AsyncIterable<Uint8Array>;
}

/** A stream of unknown size that is not compressed. */
export function streamSource(name: string, stream: AsyncIterable<Uint8Array>): Source {
  return { name, size: null, open: (onRead) => counted(stream, onRead) };
}

/**
 * A file, decompressed if its name ends with `.gz` or `.zst`. Throws an ImportError if it cannot be
 * read.
 */
export async function fileSource(name: string): Promise<Source> {
  const info = await stat(name).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(name, error);
  });
  if (info.isDirectory()) {
    throw new ImportError(`${name} is a folder, not a file of records`);
  }
  await access(name, constants.R_OK).catch((error) => {
    throw unreadable(name, error);
  });
  return {
    name,
    size: info.isFile() ? info.size : null,
    open(onRead) {
      const file = createReadStream(name, { highWaterMark: IMPORT_READ_BYTES });
      file.on("data", (piece) => onRead(piece.length));
      return decompressed(encodingOf(name), file);
    },
  };
}

function unreadable(name: string, error: NodeJS.ErrnoException): ImportError {
  const reason = error.code === "ENOENT" ? "no such file" : (error.code ?? error.message);
  return new ImportError(`${name} cannot be read: ${reason}`);
}

function encodingOf(name: string): Encoding {
  if (name.endsWith(".gz")) return "gzip";
  return name.endsWith(".zst") ? "zstd" : "identity";
}

async function* counted(
  stream: AsyncIterable<Uint8Array>,
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    onRead(piece.length);
    yield piece;
  }
}
