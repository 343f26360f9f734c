import { Problem } from "../../problem/problem.ts";
import { type Validator, validator } from "../../problem/validate.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { IMPORT_LINE_FAULTS } from "../../shared/limits.ts";
import { type PreparedFile, prepareFile } from "../placement/file-record.ts";
import { LineError } from "./line-error.ts";
import { type Kind, RECORDS, type RecordOf } from "./records.ts";
import { type OnStray, withoutStray } from "./stray.ts";

/** A valid record in the form that the importer writes. */
export type Entry =
  | { readonly kind: "file"; readonly record: PreparedFile }
  | { [K in Exclude<Kind, "file">]: { readonly kind: K; readonly record: RecordOf<K> } }[Exclude<
      Kind,
      "file"
    >];

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const VALIDATORS = new Map<string, Validator<(typeof RECORDS)[Kind]>>(
  Object.entries(RECORDS).map(([kind, schema]) => [kind, validator(schema)]),
);
/** Escapes that may stand for text that PostgreSQL cannot store. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

/** Reads one line. Throws a LineError that says what is wrong with it. */
export function parseLine(bytes: Uint8Array, onStray: OnStray): Entry {
  try {
    return entryOf(parseJson(bytes), onStray);
  } catch (error) {
    // What walks through values recurses; honest records are not that deep.
    if (error instanceof RangeError) throw new LineError("is nested too deeply");
    throw error;
  }
}

/** Validates one record, apart from fields that no kind of its name has. Throws a LineError. */
export function entryOf(value: unknown, onStray: OnStray = () => {}): Entry {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LineError("must be a JSON object");
  }
  const kind = (value as { record?: unknown }).record;
  if (typeof kind !== "string") throw new LineError("record: is required, and names the kind");
  const validate = VALIDATORS.get(kind);
  if (validate === undefined) {
    const known = Object.keys(RECORDS).join(", ");
    throw new LineError(`record: "${abbreviate(kind)}" is not known, must be one of ${known}`);
  }
  const schema = RECORDS[kind as Kind];
  const known = withoutStray(schema, value, (field) => onStray(`${kind}.${field}`)) as object;
  const record = validated(validate, kind === "file" ? withoutChunkNulls(known) : known);
  if (kind === "file") {
    return { kind: "file", record: prepareFile(record as RecordOf<"file">) };
  }
  return { kind, record } as Entry;
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new LineError("is not valid UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new LineError("is not valid JSON");
  }
  if (SUSPICIOUS_ESCAPE.test(text)) refuseUnstorable(value, "");
  else if (text.includes("\0")) throw new LineError("contains a NUL character");
  return value;
}

function refuseUnstorable(value: unknown, field: string): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw new LineError(`${field}: contains a NUL character`);
    if (!value.isWellFormed()) throw new LineError(`${field}: contains half a surrogate pair`);
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      refuseUnstorable(item, `${field}[${i}]`);
    });
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuseUnstorable(key, field === "" ? "a field's name" : `${field}, a field's name`);
      refuseUnstorable(item, field === "" ? key : `${field}.${key}`);
    }
  }
}

function validated<T>(validate: Validator<(typeof RECORDS)[Kind]>, value: T): unknown {
  try {
    return validate(value);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const faults = error.options.errors ?? [];
    const named = faults
      .slice(0, IMPORT_LINE_FAULTS)
      .map(({ field, message }) => `${abbreviate(field)}: ${message}`);
    const more = faults.length - named.length;
    throw new LineError(named.join("; ") + (more > 0 ? `; and ${more} more` : ""));
  }
}

/** A null in an optional field counts as absent, in chunks as in the record itself. */
function withoutChunkNulls(value: object): object {
  const { chunks } = value as { chunks?: unknown };
  if (!Array.isArray(chunks)) return value;
  const cleaned = chunks.map((chunk: unknown) => {
    if (typeof chunk !== "object" || chunk === null || Array.isArray(chunk)) return chunk;
    const entries = Object.entries(chunk);
    const kept = entries.filter(([key, item]) => item !== null || key === "content");
    return kept.length === entries.length ? chunk : Object.fromEntries(kept);
  });
  return { ...value, chunks: cleaned };
}
