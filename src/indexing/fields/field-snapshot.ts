import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DISK_FORMATS, otherFormat } from "../../shared/disk-formats.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../../shared/durable-files.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../shared/limits.ts";
import { requireChanges } from "../snapshots/position.ts";
import type { Column } from "./column.ts";
import type { FieldColumns } from "./field-columns.ts";
import { FieldProject } from "./field-project.ts";

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
  /** Versions to add again. */
  readonly outdated: readonly string[];
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

type Root = "path" | "frontmatter" | "metadata";

function encoded(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("base64");
}

function decoded(text: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
}

/** A column with the number of its entries when the snapshot was begun: it only grows. */
interface SavedColumn {
  readonly root: Root;
  readonly path?: string;
  readonly column: Column;
  readonly entries: number;
}

function columnsOf({ columns }: FieldProject): SavedColumn[] {
  const saved = (root: Root, column: Column, path?: string): SavedColumn => ({
    ...{ root, column, entries: column.rows.length },
    ...(path === undefined ? {} : { path }),
  });
  const inRoot = (root: "frontmatter" | "metadata") => [
    ...[...columns[root].columns].map(([path, column]) => saved(root, column, path)),
    saved(root, columns[root].rest),
  ];
  return [saved("path", columns.path), ...inRoot("frontmatter"), ...inRoot("metadata")];
}

function* versionLines(project: FieldProject, count: number): Generator<Line> {
  for (let at = 0; at < count; at += INDEX_META_SLICE_VERSIONS) {
    const numbers = Array.from(
      { length: Math.min(INDEX_META_SLICE_VERSIONS, count - at) },
      (_, i) => at + i,
    );
    const ids = numbers.map((number) => project.idOf(number));
    yield { ids, dimensions: numbers.map((number) => project.dimensionsOf(number)) };
  }
}

function* columnLines({ root, path, column, entries }: SavedColumn): Generator<Line> {
  let written = 1;
  for (let at = 0; at < entries; at += INDEX_META_SLICE_VERSIONS) {
    const end = Math.min(entries, at + INDEX_META_SLICE_VERSIONS);
    const codes = column.codes.values.subarray(at, end);
    // Codes are given in the order in which entries need them.
    const last = Math.max(written, 1 + codes.reduce((a, b) => Math.max(a, b)));
    const values = Array.from({ length: last - written }, (_, i) => column.written(written + i));
    written = last;
    const rows = encoded(column.rows.values.subarray(at, end));
    yield { root, ...(path === undefined ? {} : { path }), values, rows, codes: encoded(codes) };
  }
}

function* linesOf(project: FieldProject, state: State): Generator<State | Line> {
  const { count } = project;
  const columns = columnsOf(project);
  yield state;
  yield* versionLines(project, count);
  for (const column of columns) yield* columnLines(column);
}

/** Writes a project's fields durably. Lets other work run in between. */
export async function writeFieldSnapshot(
  project: FieldProject,
  directory: string,
  seq: number,
): Promise<void> {
  // Taken first: every version that a scope names is among those that follow, which only grow.
  const scopes = [...project.scopes].map(([id, bits]): [string, string] => [id, encoded(bits)]);
  const state: State = { seq, scopes, outdated: project.outdated() };
  const pieces: Buffer[] = [];
  let crc = 0;
  for (const line of linesOf(project, state)) {
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
    for (const [i, id] of line.ids.entries()) project.append(id, line.dimensions[i] ?? []);
    return;
  }
  const { root, path, values, rows, codes } = line;
  const column = root === "path" ? project.columns.path : columnOf(project.columns[root], path);
  column.restore(values as never, decoded(rows), decoded(codes));
}

function columnOf(fields: FieldColumns, path: string | undefined): Column {
  return path === undefined ? fields.rest : fields.open(path);
}

/** Reads a project's fields; null without a snapshot. Throws if it is damaged or lacks changes up to `seq`. */
export async function readFieldSnapshot(
  directory: string,
  seq: number,
): Promise<FieldProject | null> {
  const path = join(directory, FILE);
  if (!existsSync(path)) return null;
  const bytes = await readFile(path);
  const start = bytes.indexOf(0x0a) + 1;
  const { format, crc } = JSON.parse(bytes.toString("utf8", 0, start)) as Head;
  if (format !== FORMAT) throw new Error(otherFormat(format, FORMAT));
  if (Bun.hash.crc32(bytes.subarray(start)) !== crc) throw new Error("the fields are damaged");
  const lines = bytes.indexOf(0x0a, start) + 1;
  const state = JSON.parse(bytes.toString("utf8", start, lines)) as State;
  requireChanges(state.seq, seq);
  const project = new FieldProject();
  for (let at = lines; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    read(project, parseJson(bytes.toString("utf8", at, end)) as Line);
    at = end + 1;
    await Bun.sleep(0);
  }
  for (const [id, bits] of state.scopes) project.scopes.set(id, decoded(bits));
  for (const id of state.outdated) project.readAgain(id);
  return project;
}
