import type { TSchema } from "@sinclair/typebox";
import { distance } from "fastest-levenshtein";
import { invalidByte } from "../../../documents/document.ts";
import { RecordError } from "../../../documents/errors.ts";
import { abbreviate } from "../../../domain/abbreviate.ts";
import { keepOpaqueNumbers } from "../../../domain/json/opaque.ts";
import { isDeeper } from "../../../domain/json/parse.ts";
import { IMPORT_RECORD_MAX_CHARS, JSON_MAX_DEPTH } from "../../../domain/limits.ts";
import { Problem } from "../../../domain/problem/problem.ts";
import { type Validator, validator } from "../../../domain/problem/validate.ts";
import { omitNulls } from "../../../domain/rows.ts";
import { fileRemoval, fileVersion } from "./file-record.ts";
import type { ParsedRecord } from "./parsed-record.ts";
import { RECORD_SCHEMAS, type RecordKind, type RecordOf } from "./schemas.ts";
import { type ImportTarget, requireTarget, withTarget } from "./target.ts";

/** Validation errors reported per record. */
const IMPORT_RECORD_ERRORS_MAX = 3;
/** Letters of a word per accepted typo. */
const LETTERS_PER_TYPO = 3;

type RecordSchema = (typeof RECORD_SCHEMAS)[RecordKind];

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
const VALIDATORS = new Map<string, Validator<RecordSchema>>(
  Object.entries(RECORD_SCHEMAS).map(([kind, schema]) => [
    kind,
    validator(schema, { stored: true }),
  ]),
);

/** The field that an unknown one resembles. `field` is as reported, such as `file.chunks.colour`. */
export function knownField(field: string): string | undefined {
  const [kind = "", ...path] = field.split(".");
  return similarField(RECORD_SCHEMAS[kind as RecordKind], path.join("."));
}

/** Parses one line of NDJSON. Throws a RecordError. */
export function parseLine(
  bytes: Uint8Array,
  onUnknownField: OnUnknownField,
  target?: ImportTarget,
): ParsedRecord {
  const parsed = parseRecord(parseJson(bytes), onUnknownField, target);
  // Only files have embeddings, whose digits do not count.
  if (parsed.kind !== "file" && bytes.length > IMPORT_RECORD_MAX_CHARS) {
    throw new RecordError(`is longer than ${IMPORT_RECORD_MAX_CHARS} bytes`);
  }
  return parsed;
}

/** Validates one record, for the target if there is one. Unknown fields are reported and ignored. Throws a RecordError. */
export function parseRecord(
  value: unknown,
  onUnknownField: OnUnknownField = () => {},
  target?: ImportTarget,
): ParsedRecord {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new RecordError("must be a JSON object");
  }
  const kind = (value as { record?: unknown }).record;
  if (typeof kind !== "string") {
    throw new RecordError("record: is required and names the kind of the record");
  }
  const validate = VALIDATORS.get(kind);
  if (validate === undefined) {
    const kinds = Object.keys(RECORD_SCHEMAS).join(", ");
    throw new RecordError(
      `record: "${abbreviate(kind)}" is not a known kind, must be one of ${kinds}`,
    );
  }
  const schema = RECORD_SCHEMAS[kind as RecordKind];
  const given = target === undefined ? value : withTarget(kind, value, target);
  const known = omitUnknownFields(schema, given, (field) => onUnknownField(`${kind}.${field}`));
  const record = validated(validate, kind === "file" ? omitChunkNulls(known as object) : known);
  const parsed =
    kind === "file" ? parsedFile(record as RecordOf<"file">) : ({ kind, record } as ParsedRecord);
  if (target !== undefined) requireTarget(parsed, target);
  return parsed;
}

function parsedFile(record: RecordOf<"file">): ParsedRecord {
  return record.deleted === true
    ? { kind: "removed_file", record: fileRemoval(record) }
    : { kind: "file", record: fileVersion(record) };
}

function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new RecordError(`is not valid UTF-8 at byte ${invalidByte(bytes)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RecordError("is not valid JSON");
  }
  if (isDeeper(value, JSON_MAX_DEPTH)) {
    throw new RecordError(`must not be nested deeper than ${JSON_MAX_DEPTH}`);
  }
  keepNumbers(text, value);
  return value;
}

/** Keeps the numbers in the opaque members of a record as they are written. */
function keepNumbers(text: string, value: unknown): void {
  const { record } = (value ?? {}) as { record?: unknown };
  if (typeof record !== "string" || !Object.hasOwn(RECORD_SCHEMAS, record)) return;
  keepOpaqueNumbers(RECORD_SCHEMAS[record as RecordKind], text, value);
}

function validated(validate: Validator<RecordSchema>, value: unknown): unknown {
  try {
    return validate(value);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = error.options.errors ?? [];
    const listed = errors
      .slice(0, IMPORT_RECORD_ERRORS_MAX)
      .map(({ field, message }) => `${abbreviate(field)}: ${message}`);
    const more = errors.length - listed.length;
    throw new RecordError(listed.join("; ") + (more > 0 ? `; and ${more} more` : ""));
  }
}

/** A null in an optional field counts as absent, in chunks as in the record itself. */
function omitChunkNulls(value: object): object {
  const { chunks } = value as { chunks?: unknown };
  if (!Array.isArray(chunks)) return value;
  const cleaned = chunks.map((chunk: unknown) => {
    if (typeof chunk !== "object" || chunk === null || Array.isArray(chunk)) return chunk;
    // The required field stays, so that the error message names its type.
    const required = "content" in chunk ? { content: chunk.content } : {};
    return { ...omitNulls(chunk), ...required };
  });
  return { ...value, chunks: cleaned };
}

/** Receives the path of a field that the schema does not name, such as `chunks.colour`. */
type OnUnknownField = (field: string) => void;

/**
 * A copy of the value without the fields that its schema does not name, at any depth. An object
 * whose schema names no fields keeps all of them.
 */
function omitUnknownFields(
  schema: TSchema,
  value: unknown,
  onUnknownField: OnUnknownField,
  path = "",
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = schema["items"] as TSchema | undefined;
    if (items === undefined) return value;
    return value.map((item) => omitUnknownFields(items, item, onUnknownField, path));
  }
  const properties = schema["properties"] as Record<string, TSchema> | undefined;
  if (properties === undefined) return value;
  const known: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const field = path === "" ? name : `${path}.${name}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) onUnknownField(field);
    else known[name] = omitUnknownFields(property, member, onUnknownField, field);
  }
  return known;
}

/** The name of the schema that an unknown field resembles. `field` is a path such as `chunks.colour`. */
function similarField(schema: TSchema, field: string): string | undefined {
  const names = field.split(".");
  let level: TSchema | undefined = schema;
  for (const name of names.slice(0, -1)) {
    const member: TSchema | undefined = level?.["properties"]?.[name];
    level = member?.["items"] ?? member;
  }
  return similarTo(names.at(-1) ?? "", Object.keys(level?.["properties"] ?? {}));
}

/** The candidate with the fewest typos from the word; undefined if all have too many. */
function similarTo(word: string, candidates: Iterable<string>): string | undefined {
  let nearest: { readonly candidate: string; readonly typos: number } | undefined;
  for (const candidate of candidates) {
    const typos = distance(word.toLowerCase(), candidate.toLowerCase());
    const allowed = Math.max(word.length, candidate.length) / LETTERS_PER_TYPO;
    if (typos <= allowed && typos < (nearest?.typos ?? Infinity)) nearest = { candidate, typos };
  }
  return nearest?.candidate;
}
