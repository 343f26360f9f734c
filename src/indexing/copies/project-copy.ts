import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import pLimit from "p-limit";
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from "../../shared/durable-files.ts";
import { CopyFailure } from "./copy-failure.ts";
import {
  type CopiedFile,
  type CopyManifest,
  decodeCopyManifest,
  type Piece,
  sha256Of,
} from "./copy-manifest.ts";
import type { Objects } from "./objects.ts";

export const MANIFEST = "manifest.json";
/** Enough for a project of some terabytes. */
const MANIFEST_MAX_BYTES = 64 * 1024 * 1024;
/** A search may wait for it. */
export const MANIFEST_TIMEOUT_MS = 2_000;
export const PIECE_TIMEOUT_MS = 20_000;
/** Pieces of a project that are on their way at once, each of them in memory. */
const PIECES_AT_ONCE = 4;
/** Reading a project from PostgreSQL is as fast, so a slower copy is given up. */
const FETCH_MIN_BYTES_PER_SECOND = 4 * 1024 * 1024;
const FETCH_BASE_MS = 10_000;

/** The place of the snapshot in the change log. */
export type CopyPosition = Pick<CopyManifest, "anchor" | "seq">;

export interface CopyDescription extends CopyPosition {
  readonly bytes: number;
}

export interface Where {
  readonly objects: Objects;
  readonly databaseId: string;
  readonly projectId: string;
}

/** What a step costs that moves bytes. */
export interface Moved {
  bytes: number;
}

export const folderOf = ({ databaseId, projectId }: Omit<Where, "objects">) =>
  `${databaseId}/${projectId}`;
/** The part of a piece's name that tells what it holds. */
export const hashIn = (name: string) => name.slice(0, 64);

/** Null when there is none that this version can use. */
export async function readManifest(where: Where): Promise<CopyManifest | null> {
  const { objects, databaseId, projectId } = where;
  const name = `${folderOf(where)}/${MANIFEST}`;
  const bytes = await objects.get(name, MANIFEST_MAX_BYTES, MANIFEST_TIMEOUT_MS);
  return bytes === null ? null : decodeCopyManifest(bytes, databaseId, projectId);
}

/** Describes a project's copy; null when there is none that this version can use. */
export async function describeCopy(where: Where): Promise<CopyDescription | null> {
  const manifest = await readManifest(where);
  if (manifest === null) return null;
  return { anchor: manifest.anchor, seq: manifest.seq, bytes: bytesOf(manifest) };
}

function bytesOf({ files }: CopyManifest): number {
  return [...piecesOf(files)].reduce((bytes, { piece }) => bytes + piece.bytes, 0);
}

/** How long a download of this many bytes may take, in milliseconds. */
export function fetchLimitMs(bytes: number): number {
  return FETCH_BASE_MS + (bytes * 1_000) / FETCH_MIN_BYTES_PER_SECOND;
}

export function deadlineAfter(ms: number, what: string): () => void {
  const deadline = performance.now() + ms;
  return () => {
    if (performance.now() > deadline) throw new CopyFailure("unavailable", `${what} is too slow`);
  };
}

/** Calls `work` for each item, some at once; rejects when all that began have ended. */
export async function forEach<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const limit = pLimit(PIECES_AT_ONCE);
  let failure: { readonly error: unknown } | undefined;
  const attempt = async (item: T) => {
    if (failure !== undefined) return;
    await work(item).catch((error: unknown) => {
      failure ??= { error };
    });
  };
  await Promise.all(items.map((item) => limit(() => attempt(item))));
  if (failure !== undefined) throw failure.error;
}

interface PieceOfFile {
  readonly path: string;
  readonly offset: number;
  readonly piece: Piece;
}

export function* piecesOf(files: readonly CopiedFile[]): Generator<PieceOfFile> {
  for (const { path, pieces } of files) {
    let offset = 0;
    for (const piece of pieces) {
      yield { path, offset, piece };
      offset += piece.bytes;
    }
  }
}

/**
 * Downloads the copy of a project into an empty directory and verifies it. False when there is none that this
 * version can use.
 */
export async function fetchCopy(where: Where, directory: string, moved: Moved): Promise<boolean> {
  const { objects } = where;
  const manifest = await readManifest(where);
  if (manifest === null) return false;
  const pieces = [...piecesOf(manifest.files)];
  const inTime = deadlineAfter(fetchLimitMs(bytesOf(manifest)), "the download");
  for (const { path } of manifest.files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true, mode: PRIVATE_DIRECTORY });
    closeSync(openSync(target, "wx", PRIVATE_FILE));
  }
  await forEach(pieces, async ({ path, offset, piece }) => {
    inTime();
    const name = `${folderOf(where)}/${piece.name}`;
    const bytes = await objects.get(name, piece.bytes, PIECE_TIMEOUT_MS);
    const isWhole = bytes?.length === piece.bytes && piece.name.startsWith(sha256Of(bytes));
    if (bytes === null || !isWhole) {
      throw new CopyFailure("damaged", "a piece is missing or damaged");
    }
    moved.bytes += bytes.length;
    writeAt(join(directory, path), bytes, offset);
  });
  return true;
}

function writeAt(path: string, bytes: Uint8Array, offset: number): void {
  const file = openSync(path, "r+");
  try {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(file, bytes, at, bytes.length - at, offset + at);
    }
  } finally {
    closeSync(file);
  }
}
