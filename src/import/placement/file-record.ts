import {
  IMPORT_CHARS_PER_TOKEN,
  IMPORT_INTEGER_MAX,
  IMPORT_PATH_MAX_BYTES,
} from "../../shared/limits.ts";
import { LineError } from "../records/line-error.ts";
import type { ChunkRecord, RecordOf } from "../records/records.ts";
import { readEmbedding } from "./embedding.ts";
import { canonicalJson } from "./ids.ts";

export interface PreparedChunk {
  readonly index: number;
  readonly content: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly tokenCount: number;
  /** JSON with sorted keys. */
  readonly metadata: string;
  readonly dimension: number | null;
  /** Base64 of little-endian float32. */
  readonly embedding: string | null;
}

/** A `file` record with every default filled in. */
export interface PreparedFile {
  readonly id: string | undefined;
  readonly project: string;
  readonly path: string;
  readonly environments: readonly string[];
  readonly releases: readonly string[];
  readonly content: string | null;
  readonly versionKey: string;
  /** True when the key follows from the contents, so that it cannot stand for two of them. */
  readonly keyNamesContents: boolean;
  /** Of content and chunks: two versions with the same one hold the same. */
  readonly fingerprint: string;
  readonly chunks: readonly PreparedChunk[];
}

/** Fills in the defaults of a valid `file` record. Throws a LineError. */
export function prepareFile(record: RecordOf<"file">): PreparedFile {
  if (Buffer.byteLength(record.path) > IMPORT_PATH_MAX_BYTES) {
    throw new LineError(`path: must have at most ${IMPORT_PATH_MAX_BYTES} bytes`);
  }
  const content = record.content ?? null;
  const chunks = prepareChunks(record.chunks ?? [], content);
  const fingerprint = fingerprintOf(content, chunks);
  return {
    id: record.id?.toLowerCase(),
    project: record.project,
    path: record.path,
    environments: record.environments ?? [],
    releases: record.releases ?? [],
    content,
    versionKey: record.version_key ?? `sha256:${fingerprint}`,
    keyNamesContents: record.version_key === undefined,
    fingerprint,
    chunks,
  };
}

function prepareChunks(records: readonly ChunkRecord[], content: string | null): PreparedChunk[] {
  const offsets = new OffsetFinder(content);
  const taken = new Set<number>();
  return records.map((record, position) => {
    const index = record.index ?? position;
    if (taken.has(index)) {
      throw new LineError(`chunks[${position}].index: another chunk of the file has ${index}`);
    }
    taken.add(index);
    const startOffset = record.start_offset ?? offsets.find(record.content);
    const endOffset =
      record.end_offset ?? Math.min(startOffset + record.content.length, IMPORT_INTEGER_MAX);
    if (endOffset < startOffset) {
      throw new LineError(`chunks[${position}].end_offset: must not be below start_offset`);
    }
    const { embedding } = record;
    const vector =
      embedding === undefined || embedding === null
        ? null
        : readEmbedding(embedding, `chunks[${position}].embedding`);
    return {
      index,
      content: record.content,
      startOffset,
      endOffset,
      tokenCount: record.token_count ?? Math.ceil(record.content.length / IMPORT_CHARS_PER_TOKEN),
      metadata: canonicalJson(record.metadata ?? {}),
      dimension: vector?.dimension ?? null,
      embedding: vector?.base64 ?? null,
    };
  });
}

/** Finds chunks in the text of their file, one after the other, until one is not in it. */
class OffsetFinder {
  #from = 0;
  #lost: boolean;

  constructor(private readonly content: string | null) {
    this.#lost = content === null;
  }

  /** The offset in UTF-16 code units; 0 when unknown. */
  find(chunk: string): number {
    if (this.#lost || this.content === null) return 0;
    const at = this.content.indexOf(chunk, this.#from);
    if (at < 0) {
      this.#lost = true;
      return 0;
    }
    // Chunks may overlap, so the next one is looked for from where this one starts.
    this.#from = at;
    return at;
  }
}

function fingerprintOf(content: string | null, chunks: readonly PreparedChunk[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  const add = (text: string) => {
    // The length keeps two neighbouring texts from passing for two others.
    hash.update(`${text.length}:`);
    hash.update(text);
  };
  hash.update(content === null ? "none" : "text");
  add(content ?? "");
  for (const chunk of chunks) {
    hash.update(`${chunk.index},${chunk.startOffset},${chunk.endOffset},${chunk.tokenCount};`);
    add(chunk.content);
    add(chunk.metadata);
    add(chunk.embedding ?? "");
  }
  return hash.digest("hex");
}
