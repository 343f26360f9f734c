import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { CopyFailure } from "./copy-failure.ts";
import {
  type CopiedFile,
  encodeCopyManifest,
  PIECE_BYTES,
  type Piece,
  sha256Of,
} from "./copy-manifest.ts";
import {
  type CopyPosition,
  deadlineAfter,
  folderOf,
  forEach,
  hashIn,
  MANIFEST,
  type Moved,
  PIECE_TIMEOUT_MS,
  piecesOf,
  readManifest,
  type Where,
} from "./project-copy.ts";

/** An upload that takes longer is given up: what it relies on may be deleted after PIECE_GRACE_MS. */
export const PUBLISH_MAX_MS = 2 * 3_600_000;
/** Whoever has read a manifest may use its pieces for this long after they were retired. */
const PIECE_GRACE_MS = 4 * 3_600_000;

/** Pieces of the files of the last upload of each project, by what tells that a file is the same. */
export class KnownFiles {
  readonly #projects = new Map<string, ReadonlyMap<string, readonly Piece[]>>();

  of(projectId: string): ReadonlyMap<string, readonly Piece[]> {
    return this.#projects.get(projectId) ?? new Map();
  }

  replace(projectId: string, files: ReadonlyMap<string, readonly Piece[]>): void {
    this.#projects.set(projectId, files);
  }

  forget(projectId: string): void {
    this.#projects.delete(projectId);
  }
}

/** Links to a file have the same key, and a file that replaces it has another one. */
function keyOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

/** Gives a piece with these bytes the name of one that is stored; stores it if there is none. */
type Store = (bytes: Uint8Array<ArrayBuffer>) => Promise<Piece>;

/** The pieces of a file, which is not read again if it had the pieces `known` and all of them are stored. */
async function copyFile(
  path: string,
  known: readonly Piece[] | undefined,
  stored: (hash: string, bytes: number) => Piece | undefined,
  store: Store,
): Promise<readonly Piece[]> {
  const before = known?.map(({ name, bytes }) => stored(hashIn(name), bytes));
  if (before?.every((piece) => piece !== undefined)) return before;
  const { size } = statSync(path);
  const pieces: Piece[] = Array(Math.ceil(size / PIECE_BYTES));
  const file = openSync(path, "r");
  try {
    await forEach([...pieces.keys()], async (number) => {
      const offset = number * PIECE_BYTES;
      const bytes = new Uint8Array(Math.min(PIECE_BYTES, size - offset));
      if (readSync(file, bytes, 0, bytes.length, offset) < bytes.length) {
        throw new Error("a file of a snapshot became shorter");
      }
      pieces[number] = await store(bytes);
    });
  } finally {
    closeSync(file);
  }
  return pieces;
}

/** The pieces that are stored, without those that may be deleted at any time. */
function usablePieces(
  listed: ReadonlyMap<string, number>,
  retired: Readonly<Record<string, number>>,
): Map<string, Piece> {
  const usable = new Map<string, Piece>();
  for (const [name, bytes] of listed) {
    if (name !== MANIFEST && retired[name] === undefined) usable.set(hashIn(name), { name, bytes });
  }
  return usable;
}

/** Divides what no file needs any more into what readers may still use and what can be deleted. */
function divideUnused(
  listed: Iterable<string>,
  files: readonly CopiedFile[],
  before: Readonly<Record<string, number>>,
): { retired: Record<string, number>; deletable: string[] } {
  const used = new Set([...piecesOf(files)].map(({ piece }) => piece.name));
  const now = Date.now();
  const retired: Record<string, number> = {};
  const deletable: string[] = [];
  for (const name of listed) {
    if (name === MANIFEST || used.has(name)) continue;
    const since = before[name] ?? now;
    if (since < now - PIECE_GRACE_MS) deletable.push(name);
    else retired[name] = since;
  }
  return { retired, deletable };
}

/**
 * Uploads the snapshot of a project from a directory whose files do not change meanwhile. Pieces that are
 * stored already are not uploaded again. The manifest is replaced last, and what it does not name any more is
 * deleted PIECE_GRACE_MS later, by the upload that comes then.
 */
export async function publishCopy(
  where: Where,
  directory: string,
  position: CopyPosition,
  known: KnownFiles,
  moved: Moved,
): Promise<void> {
  const { objects, databaseId, projectId } = where;
  const folder = folderOf(where);
  const inTime = deadlineAfter(PUBLISH_MAX_MS, "the upload");
  // A manifest that cannot be read is replaced, and its pieces are retired.
  const before = await readManifest(where).catch((error: unknown) => {
    if (error instanceof CopyFailure && error.kind === "damaged") return null;
    throw error;
  });
  const listed = await objects.list(folder);
  const usable = usablePieces(listed, before?.retired ?? {});
  const stored = (hash: string, bytes: number) => {
    const piece = usable.get(hash);
    return piece?.bytes === bytes ? piece : undefined;
  };
  const store: Store = async (bytes) => {
    inTime();
    const hash = sha256Of(bytes);
    const found = stored(hash, bytes.length);
    if (found !== undefined) return found;
    const name = listed.has(hash) ? `${hash}.${crypto.randomUUID().slice(0, 8)}` : hash;
    await objects.put(`${folder}/${name}`, bytes, PIECE_TIMEOUT_MS);
    moved.bytes += bytes.length;
    const piece = { name, bytes: bytes.length };
    usable.set(hash, piece);
    return piece;
  };
  const files: CopiedFile[] = [];
  const read = new Map<string, readonly Piece[]>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const key = keyOf(path);
    const pieces = await copyFile(path, known.of(projectId).get(key), stored, store);
    read.set(key, pieces);
    files.push({ path: relative(directory, path), pieces: [...pieces] });
  }
  const { retired, deletable } = divideUnused(listed.keys(), files, before?.retired ?? {});
  const manifest = { databaseId, projectId, ...position, files, retired };
  const bytes = encodeCopyManifest(manifest);
  await objects.put(`${folder}/${MANIFEST}`, bytes, PIECE_TIMEOUT_MS);
  known.replace(projectId, read);
  for (const name of deletable) await objects.delete(`${folder}/${name}`);
}
