import type { Sql } from "../../db/client.ts";
import { chunkMarkdown, type MarkdownChunk, parseMarkdown } from "../../markdown/index.ts";
import {
  IMPORT_BATCH_BYTES,
  IMPORT_PATH_MAX_BYTES,
  MARKDOWN_FILES_PER_STEP,
} from "../../shared/limits.ts";
import type { Embedder } from "../embedders/embedder.ts";
import { embeddingOf } from "../placement/embedding.ts";
import type { PreparedChunk, PreparedFile } from "../placement/file-record.ts";
import { canonicalJson } from "../placement/ids.ts";
import { LineError } from "../records/line-error.ts";
import { readMarkdown } from "./folder.ts";

/** Part of version keys: a change of how files are cut makes new versions of them. */
const CHUNKER = "markdown-1";

/** A file that was read. */
export interface Draft {
  readonly path: string;
  readonly text: string;
  readonly title: string;
  readonly versionKey: string;
  readonly warning: string | null;
}

/** A file that is refused. */
export interface RefusedDraft {
  readonly path: string;
  readonly fault: string;
}

/** Reads the files, several at a time, but not more text than one batch is to hold. */
export function* readDrafts(
  folder: string,
  paths: readonly string[],
  embedder: string,
): Generator<(Draft | RefusedDraft)[]> {
  let drafts: (Draft | RefusedDraft)[] = [];
  let chars = 0;
  for (const path of paths) {
    const draft = draftOf(folder, path, embedder);
    drafts.push(draft);
    chars += "fault" in draft ? 0 : draft.text.length;
    if (drafts.length >= MARKDOWN_FILES_PER_STEP || chars >= IMPORT_BATCH_BYTES) {
      yield drafts;
      drafts = [];
      chars = 0;
    }
  }
  if (drafts.length > 0) yield drafts;
}

function draftOf(folder: string, path: string, embedder: string): Draft | RefusedDraft {
  try {
    if (Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES) {
      throw new LineError(`has a path of more than ${IMPORT_PATH_MAX_BYTES} bytes`);
    }
    const text = readMarkdown(folder, path);
    const hash = new Bun.CryptoHasher("sha256");
    hash.update(`${CHUNKER}\n${embedder}\n`);
    hash.update(text);
    const versionKey = `markdown:${hash.digest("hex")}`;
    const { title, warning } = parseMarkdown(path, text);
    return { path, text, title, versionKey, warning };
  } catch (error) {
    if (error instanceof LineError) return { path, fault: error.message };
    throw error;
  }
}

/** Paths whose version is stored already, and so need no embedding again. */
export async function storedVersions(
  sql: Sql,
  project: string,
  drafts: readonly Draft[],
): Promise<Set<string>> {
  const rows = await sql<{ path: string }[]>`
    SELECT f.path FROM unnest(${drafts.map((draft) => draft.path)}::text[],
      ${drafts.map((draft) => draft.versionKey)}::text[]) u (path, key)
    JOIN projects p ON p.slug = ${project}
    JOIN files f ON f.project_id = p.id AND f.path = u.path
    JOIN file_versions v ON v.file_id = f.id AND v.version_key = u.key`;
  return new Set(rows.map((row) => row.path));
}

/** The chunks of several files, embedded together. */
export async function embeddedChunks(
  drafts: readonly Draft[],
  embedder: Embedder,
): Promise<Map<Draft, PreparedChunk[]>> {
  const pieces = drafts.map((draft) => ({ draft, chunks: chunkMarkdown(draft.text) }));
  const vectors = await embedder.embedPassages(
    pieces.flatMap(({ draft, chunks }) =>
      chunks.map(({ content, metadata }) => ({
        content,
        headings:
          metadata.headings[0] === draft.title
            ? metadata.headings
            : [draft.title, ...metadata.headings],
      })),
    ),
  );
  let next = 0;
  return new Map(
    pieces.map(({ draft, chunks }) => [
      draft,
      chunks.map((chunk, index) => prepared(chunk, index, vectors[next++] as Float32Array)),
    ]),
  );
}

function prepared(chunk: MarkdownChunk, index: number, vector: Float32Array): PreparedChunk {
  const { dimension, base64 } = embeddingOf(vector);
  return {
    index,
    content: chunk.content,
    startOffset: chunk.start_offset,
    endOffset: chunk.end_offset,
    tokenCount: chunk.token_count,
    metadata: canonicalJson(chunk.metadata),
    dimension,
    embedding: base64,
  };
}

/** The record of a draft. Without chunks it names a version that is stored already. */
export function fileOf(
  draft: Draft,
  { project, environments }: { project: string; environments: readonly string[] },
  chunks: readonly PreparedChunk[] | undefined,
): PreparedFile {
  return {
    id: undefined,
    project,
    path: draft.path,
    environments,
    releases: [],
    content: chunks === undefined ? null : draft.text,
    versionKey: draft.versionKey,
    keyNamesContents: true,
    // The key is made of the text, and the chunks follow from it.
    fingerprint: draft.versionKey,
    chunks: chunks ?? [],
  };
}
