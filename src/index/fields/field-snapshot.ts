import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  FIELD_ROOTS,
  type FieldStore,
  fieldColumns,
  fieldEntries,
  restoreEntries,
} from "../../../native/fields.ts";
import { DISK_FORMATS, otherFormat } from "../../domain/disk-formats.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../domain/limits.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../../ops/durable-files.ts";
import { requireChanges } from "../snapshots/position.ts";
import type { FieldProject } from "./field-project.ts";

const FORMAT = DISK_FORMATS.versionFields;
const FILE = "fields.ndjson";

/** The first line. */
interface Head {
  readonly format: number;
  /** The checksum of the other lines. */
  readonly crc: number;
}

/** The second line. The others are slices of the versions, then of each column. */
interface State {
  /** Changes up to this one are in it. */
  readonly seq: number;
  readonly scopes: ReadonlyArray<[id: string, bits: string]>;
  /** Versions that not all indexes have, or that must be added again. */
  readonly unknown: readonly string[];
}

type Line =
  | { readonly ids: readonly string[]; readonly dimensions: readonly (readonly number[])[] }
  /** A slice of a column's new values, and of its entries with the codes of values. */
  | {
      readonly root: Root;
      /** Absent for the values beyond the bounds of columns. */
      readonly path?: string;
      readonly values: readonly unknown[];
      readonly rows: string;
      readonly codes: string;
    };

type Root = (typeof FIELD_ROOTS)[number];

function encoded(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("base64");
}

function decoded(text: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
}

function* columnLines(
  store: FieldStore,
  { root, path, entries }: ReturnType<typeof fieldColumns>[number],
): Generator<Line> {
  let written = 1;
  for (let at = 0; at < entries; at += INDEX_META_SLICE_VERSIONS) {
    const end = Math.min(entries, at + INDEX_META_SLICE_VERSIONS);
    const slice = fieldEntries(store, root, path, at, end, written);
    written = slice.written;
    yield {
      root: FIELD_ROOTS[root] as Root,
      ...(root === 0 || path === null ? {} : { path }),
      values: parseJson(slice.values) as unknown[],
      rows: encoded(slice.rows),
      codes: encoded(slice.codes),
    };
  }
}

/**
 * All of it is as it was at the first step: versions and entries of columns are only added, and if versions get other
 * numbers, the table and the project get other lists.
 */
function* linesOf({ table, store }: FieldProject, seq: number): Generator<State | Line> {
  const { ids, count, firstChunks, dimensions } = table;
  const columns = fieldColumns(store);
  const scopes = [...table.scopes].map(([id, set]): [string, string] => [id, encoded(set)]);
  yield { seq, scopes, unknown: table.unknown() };
  for (let at = 0; at < count; at += INDEX_META_SLICE_VERSIONS) {
    const slice = ids.slice(at, Math.min(count, at + INDEX_META_SLICE_VERSIONS));
    const chunks = slice.map((_, i) => firstChunks.subarray(at + i, at + i + 2));
    yield {
      ids: slice,
      dimensions: chunks.map(([from, to]) => [...dimensions.subarray(from, to)]),
    };
  }
  for (const column of columns) yield* columnLines(store, column);
}

/** Writes a project's fields durably. Lets other work run in between. */
export async function writeFieldSnapshot(
  project: FieldProject,
  directory: string,
  seq: number,
): Promise<void> {
  const pieces: Buffer[] = [];
  let crc = 0;
  for (const line of linesOf(project, seq)) {
    const piece = Buffer.from(`${JSON.stringify(line)}\n`);
    crc = Bun.hash.crc32(piece, crc);
    pieces.push(piece);
    await Bun.sleep(0);
  }
  const head: Head = { format: FORMAT, crc };
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...pieces]);
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeDurably(join(directory, FILE), bytes);
}

function read(project: FieldProject, line: Line): void {
  if ("ids" in line) {
    for (const [i, id] of line.ids.entries()) project.restore(id, line.dimensions[i] ?? []);
    project.table.added(line.ids);
    return;
  }
  const { root, path = root === "path" ? "" : null, values, rows, codes } = line;
  const entries = [JSON.stringify(values), decoded(rows), decoded(codes)] as const;
  restoreEntries(project.store, FIELD_ROOTS.indexOf(root), path, ...entries);
}

/**
 * Reads the fields and the table of an empty project; false without a snapshot. Throws if it is damaged or lacks changes
 * up to `seq`.
 */
export async function readFieldSnapshot(
  project: FieldProject,
  directory: string,
  seq: number,
): Promise<boolean> {
  const path = join(directory, FILE);
  if (!existsSync(path)) return false;
  const bytes = await readFile(path);
  const start = bytes.indexOf(0x0a) + 1;
  const { format, crc } = JSON.parse(bytes.toString("utf8", 0, start)) as Head;
  if (format !== FORMAT) throw new Error(otherFormat(format, FORMAT));
  if (Bun.hash.crc32(bytes.subarray(start)) !== crc) throw new Error("the fields are damaged");
  const lines = bytes.indexOf(0x0a, start) + 1;
  const state = JSON.parse(bytes.toString("utf8", start, lines)) as State;
  requireChanges(state.seq, seq);
  const { table } = project;
  for (let at = lines; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    read(project, parseJson(bytes.toString("utf8", at, end)) as Line);
    at = end + 1;
    await Bun.sleep(0);
  }
  for (const [id, bits] of state.scopes) table.setScope(id, decoded(bits));
  table.readAgain(state.unknown);
  return true;
}
