import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { CommandError } from "../../cli/command-error.ts";
import { IMPORT_READ_BYTES } from "../../shared/limits.ts";

/** A named stream of bytes, decompressed. */
export interface Source {
  /** As given on the command line; `-` for standard input. */
  readonly name: string;
  /** Bytes as stored; null when unknown. */
  readonly size: number | null;
  /** `onRead` hears the number of stored bytes of each piece that was read. */
  open(onRead: (bytes: number) => void): AsyncIterable<Uint8Array>;
}

const STANDARD_INPUT = "-";

/** Finds the files before anything starts; throws a CommandError that names the first missing one. */
export async function findSources(names: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const name of names) {
    sources.push(name === STANDARD_INPUT ? standardInput() : await fileSource(name));
  }
  return sources;
}

function standardInput(): Source {
  return {
    name: STANDARD_INPUT,
    size: null,
    open: (onRead) => counted(process.stdin as AsyncIterable<Uint8Array>, onRead),
  };
}

async function fileSource(name: string): Promise<Source> {
  const info = await stat(name).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(name, error);
  });
  if (info.isDirectory()) {
    throw new CommandError(`${name} is a folder: name files, or use --markdown for a folder`);
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
      return decompressed(name, file);
    },
  };
}

function unreadable(name: string, error: NodeJS.ErrnoException): CommandError {
  const reason = error.code === "ENOENT" ? "no such file" : (error.code ?? error.message);
  return new CommandError(`${name} cannot be read: ${reason}`);
}

function decompressed(name: string, file: Readable): AsyncIterable<Uint8Array> {
  const decoder = name.endsWith(".gz")
    ? createGunzip({ chunkSize: IMPORT_READ_BYTES })
    : name.endsWith(".zst")
      ? createZstdDecompress({ chunkSize: IMPORT_READ_BYTES })
      : undefined;
  if (decoder === undefined) return file;
  file.on("error", (error) => decoder.destroy(error));
  return file.pipe(decoder);
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
