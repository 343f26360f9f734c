import {
  FIELD_ROOTS,
  type FieldStore,
  fieldColumns,
  fieldEntries,
  restoreEntries,
} from "../../../native/fields.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../domain/limits.ts";
import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import type { FieldProject } from "./field-project.ts";

/** The first line. The others are slices of the versions, then of each column. */
interface State {
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
function* linesOf({ table, store }: FieldProject): Generator<State | Line> {
  const { ids, count, firstChunks, dimensions } = table;
  const columns = fieldColumns(store);
  const scopes = [...table.scopes].map(([id, set]): [string, string] => [id, encoded(set)]);
  yield { scopes, unknown: table.unknown() };
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

/** Writes a project's fields. Lets other work run in between. */
export async function writeFieldSnapshot(
  project: FieldProject,
  writer: PartWriter,
): Promise<readonly Part[]> {
  const lines: Buffer[] = [];
  for (const line of linesOf(project)) {
    lines.push(Buffer.from(`${JSON.stringify(line)}\n`));
    await Bun.sleep(0);
  }
  const bytes = Buffer.concat(lines);
  return [await writer.write(`fields-${crypto.randomUUID()}.ndjson`, bytes)];
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

/** Reads the fields and the table of an empty project. Throws if they are damaged. */
export async function readFieldSnapshot(project: FieldProject, reader: PartReader): Promise<void> {
  const bytes = await reader.read(reader.parts[0]);
  const start = bytes.indexOf(0x0a) + 1;
  const state = JSON.parse(bytes.toString("utf8", 0, start)) as State;
  const { table } = project;
  for (let at = start; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    read(project, parseJson(bytes.toString("utf8", at, end)) as Line);
    at = end + 1;
    await Bun.sleep(0);
  }
  for (const [id, bits] of state.scopes) table.setScope(id, decoded(bits));
  table.readAgain(state.unknown);
}
