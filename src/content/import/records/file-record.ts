import { documentWarning, requireDocumentSize, withoutMark } from "../../../documents/document.ts";
import { parseEmbedding } from "../../../documents/embedding.ts";
import { RecordError } from "../../../documents/errors.ts";
import { abbreviate } from "../../../domain/abbreviate.ts";
import {
  IMPORT_CHUNK_MAX_CHARS,
  IMPORT_INTEGER_MAX,
  IMPORT_PATH_MAX_BYTES,
  IMPORT_RECORD_MAX_CHARS,
} from "../../../domain/limits.ts";
import { documentPath, nameFault } from "../../../domain/paths.ts";
import type { ChunkRecord, RecordOf } from "./schemas.ts";
import { sortedJson } from "./sorted-json.ts";
import { requireOwnTextKey } from "./text-key.ts";

const IMPORT_CHARS_PER_TOKEN = 4;

export interface FileChunk {
  readonly index: number;
  readonly content: string;
  readonly startOffset: number;
  readonly endOffset: number;
  readonly tokenCount: number;
  /** JSON with sorted keys, on which the fingerprint depends. */
  readonly metadata: string;
  /** JSON with the keys as they are written; absent where they are sorted. */
  readonly writtenMetadata?: string;
  readonly dimension: number | null;
  /** Base64 of little-endian float32. */
  readonly embedding: string | null;
}

/** A `file` record with its defaults filled in: one version of a file. */
export interface FileVersion {
  readonly id: string | undefined;
  readonly project: string;
  readonly path: string;
  readonly environments: readonly string[];
  readonly releases: readonly string[];
  readonly content: string | null;
  /** The title, if it was read already; else it is read from the content when that is stored. */
  readonly title?: string;
  /** A warning for the writer of the file; absent or null without one. */
  readonly warning?: string | null;
  readonly versionKey: string;
  /** The version's id; undefined for the one that its contents determine. */
  readonly versionId: string | undefined;
  /** True if the service has derived the key from the contents. */
  readonly keyIsContentHash: boolean;
  /** True if the version is stored, which was seen by its contents; the record omits them. */
  readonly isStored?: boolean;
  /** The name or the fingerprint of the embedder of the embeddings; undefined if the record omits it. */
  readonly embedder?: string | undefined;
  /** Hash of content and chunks. */
  readonly fingerprint: string;
  readonly chunks: readonly FileChunk[];
}

/** A `file` record that takes a file out of working sets. */
export interface FileRemoval {
  readonly project: string;
  readonly path: string;
  readonly environments: readonly string[];
}

/** The removal that a `file` record with `deleted` asks for. Throws a RecordError. */
export function fileRemoval(record: RecordOf<"file">): FileRemoval {
  const { project, environments = [], releases = [], content, chunks } = record;
  if (environments.length === 0) {
    throw new RecordError("environments: must name where the file is deleted");
  }
  if (releases.length > 0) throw new RecordError("releases: keep their files");
  if (content !== undefined || chunks !== undefined) {
    throw new RecordError("deleted: cannot be combined with content or chunks");
  }
  return { project, path: documentPath(record.path), environments };
}

/** Fills in the defaults of a valid `file` record. Throws a RecordError. */
export function fileVersion(record: RecordOf<"file">): FileVersion {
  const path = documentPath(record.path);
  if (Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES) {
    throw new RecordError(`path: must have at most ${IMPORT_PATH_MAX_BYTES} bytes`);
  }
  const fault = nameFault(path);
  if (fault !== undefined) throw new RecordError(`path: ${fault}`);
  const content = contentOf(record);
  requireOwnTextKey(record.version_key, content);
  const chunks = fileChunks(record.chunks ?? [], content);
  requireBoundedText(content, chunks);
  const fingerprint = fingerprintOf(content, chunks);
  return {
    id: record.id?.toLowerCase(),
    project: record.project,
    path,
    environments: record.environments ?? [],
    releases: record.releases ?? [],
    content,
    warning: documentWarning(path, content),
    versionKey: record.version_key ?? `sha256:${fingerprint}`,
    versionId: record.version_id?.toLowerCase(),
    embedder: record.embedder,
    keyIsContentHash: record.version_key === undefined,
    fingerprint,
    chunks,
  };
}

/** The offsets of chunks that a record has are those of its content as it is. Throws a RecordError. */
function contentOf({ path, content, chunks = [] }: RecordOf<"file">): string | null {
  if (content === undefined) return null;
  try {
    requireDocumentSize(Buffer.byteLength(content));
  } catch (error) {
    throw new RecordError(`${abbreviate(path)} ${(error as RecordError).message}`);
  }
  return chunks.length > 0 ? content : withoutMark(content);
}

function fileChunks(records: readonly ChunkRecord[], content: string | null): FileChunk[] {
  const offsets = new OffsetFinder(content);
  const indexes = new Set<number>();
  return records.map((record, position) => {
    const index = record.index ?? position;
    if (indexes.has(index)) {
      throw new RecordError(`chunks[${position}].index: another chunk has the index ${index}`);
    }
    indexes.add(index);
    const startOffset = record.start_offset ?? offsets.find(record.content);
    const endOffset =
      record.end_offset ?? Math.min(startOffset + record.content.length, IMPORT_INTEGER_MAX);
    if (endOffset < startOffset) {
      throw new RecordError(`chunks[${position}].end_offset: must not be less than start_offset`);
    }
    const { embedding } = record;
    const vector =
      embedding === undefined || embedding === null
        ? null
        : parseEmbedding(embedding, `chunks[${position}].embedding`);
    return {
      index,
      content: record.content,
      startOffset,
      endOffset,
      tokenCount: record.token_count ?? Math.ceil(record.content.length / IMPORT_CHARS_PER_TOKEN),
      metadata: sortedJson(record.metadata ?? {}),
      writtenMetadata: JSON.stringify(record.metadata ?? {}),
      dimension: vector?.dimension ?? null,
      embedding: vector?.base64 ?? null,
    };
  });
}

function requireBoundedText(content: string | null, chunks: readonly FileChunk[]): void {
  let chars = content?.length ?? 0;
  for (const [position, chunk] of chunks.entries()) {
    const own = chunk.content.length + chunk.metadata.length;
    if (own > IMPORT_CHUNK_MAX_CHARS) {
      throw new RecordError(
        `chunks[${position}]: content and metadata must have at most ${IMPORT_CHUNK_MAX_CHARS} characters`,
      );
    }
    chars += own;
  }
  if (chars <= IMPORT_RECORD_MAX_CHARS) return;
  throw new RecordError(
    `content and chunks must have at most ${IMPORT_RECORD_MAX_CHARS} characters, without embeddings`,
  );
}

/** Finds the chunks in the text of their file, in order, until a chunk is not found. */
class OffsetFinder {
  #from = 0;
  #failed: boolean;

  constructor(private readonly content: string | null) {
    this.#failed = content === null;
  }

  /** The offset in UTF-16 code units; 0 if unknown. */
  find(chunk: string): number {
    if (this.#failed || this.content === null) return 0;
    const at = this.content.indexOf(chunk, this.#from);
    if (at < 0) {
      this.#failed = true;
      return 0;
    }
    // Chunks may overlap, so the search for the next one begins at the start of this one.
    this.#from = at;
    return at;
  }
}

function fingerprintOf(content: string | null, chunks: readonly FileChunk[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  const add = (text: string) => {
    // The length prefix keeps different pairs of texts from hashing to the same value.
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
