import { projectNamed } from "../../../auth/project-reference.ts";
import type { Sql } from "../../../db/client.ts";
import type { Conversions } from "../../../documents/conversion/conversions.ts";
import { type FolderFile, readText } from "../../../documents/conversion/folder.ts";
import { documentWarning } from "../../../documents/document.ts";
import { RecordError } from "../../../documents/errors.ts";
import { fileTitle, isMarkdownPath } from "../../../documents/markdown/index.ts";
import { IMPORT_BATCH_BYTES, IMPORT_PATH_MAX_BYTES } from "../../../domain/limits.ts";
import type { Embedder } from "../../../embed/embedders/embedder.ts";
import { contentsHash, storedContents } from "../put/contents.ts";
import { cutChunks } from "../records/cut.ts";
import type { FileChunk, FileVersion } from "../records/file-record.ts";
import { passageOf, withVector } from "../records/passage.ts";

const MARKDOWN_FILES_PER_STEP = 64;
/** Part of every version key. Change it when chunking changes, so that files get new versions. */
const CHUNKER = "markdown-3";

/** The bytes that are hashed before the text of a file, for the key of its version. */
export const versionKeyPrefix = (embedder: string): string => `${CHUNKER}\n${embedder}\n`;

/** A Markdown file that was read. */
export interface MarkdownDocument {
  /** Its name in the folder. */
  readonly file: string;
  readonly path: string;
  readonly text: string;
  readonly title: string;
  /** Hash of the text, the chunker and the embedder. */
  readonly versionKey: string;
  /** A warning for the writer of the file; null without one. */
  readonly warning: string | null;
}

/** A Markdown file that is rejected. */
interface RejectedDocument {
  /** Its name in the folder. */
  readonly file: string;
  readonly reason: string;
}

/** Reads the files in groups, none of which has much more text than one batch. */
export async function* readDocuments(
  folder: string,
  files: readonly FolderFile[],
  embedder: string,
  conversions?: Conversions,
): AsyncGenerator<(MarkdownDocument | RejectedDocument)[]> {
  let documents: (MarkdownDocument | RejectedDocument)[] = [];
  let chars = 0;
  for (const file of files) {
    const document = await readDocument(folder, file, embedder, conversions);
    documents.push(document);
    chars += "reason" in document ? 0 : document.text.length;
    if (documents.length >= MARKDOWN_FILES_PER_STEP || chars >= IMPORT_BATCH_BYTES) {
      yield documents;
      documents = [];
      chars = 0;
    }
  }
  if (documents.length > 0) yield documents;
}

async function readDocument(
  folder: string,
  { file, path }: FolderFile,
  embedder: string,
  conversions: Conversions | undefined,
): Promise<MarkdownDocument | RejectedDocument> {
  try {
    if (Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES) {
      throw new RecordError(`has a path longer than ${IMPORT_PATH_MAX_BYTES} bytes`);
    }
    const { text, leftOut } = await readText(folder, file, conversions);
    const hash = new Bun.CryptoHasher("sha256");
    hash.update(versionKeyPrefix(embedder));
    hash.update(text);
    const versionKey = `markdown:${hash.digest("hex")}`;
    const warnings = [documentWarning(path, text) ?? [], leftOut].flat();
    const warning = warnings.length === 0 ? null : warnings.join("; ");
    return { file, path, text, title: fileTitle(path, text), versionKey, warning };
  } catch (error) {
    if (error instanceof RecordError) return { file, reason: error.message };
    throw error;
  }
}

/** The paths whose current version is stored already, with its contents. They need not be embedded again. */
export async function findStoredPaths(
  sql: Sql,
  project: string,
  documents: readonly MarkdownDocument[],
): Promise<Set<string>> {
  const found = await projectNamed(sql, project);
  if (found === undefined) return new Set();
  const rows = await sql<{ id: string; path: string }[]>`
    SELECT v.id, f.path FROM unnest(${documents.map(({ path }) => path)}::text[],
      ${documents.map(({ versionKey }) => versionKey)}::text[]) u (path, key)
    JOIN files f ON f.project_id = ${found.id} AND f.path = u.path
    JOIN file_versions v ON v.file_id = f.id AND v.version_key = u.key`;
  const stored = await storedContents(
    sql,
    rows.map(({ id }) => id),
  );
  const idOf = new Map(rows.map(({ id, path }) => [path, id]));
  const isStored = (document: MarkdownDocument) => {
    const { path, text: content } = document;
    const known = stored.get(idOf.get(path) ?? "");
    // Embeddings that a client gave may be of any text.
    if (known === undefined || known.given !== null) return false;
    return known.hash === contentsHash({ path, content, chunks: cut(document) });
  };
  return new Set(documents.filter(isStored).map(({ path }) => path));
}

/** The chunks of a document, without embeddings. */
function cut({ path, text }: MarkdownDocument): FileChunk[] {
  return [...cutChunks(text, isMarkdownPath(path))];
}

/** Cuts documents into chunks and embeds the chunks of all of them together. */
export async function embedChunks(
  documents: readonly MarkdownDocument[],
  embedder: Embedder,
): Promise<Map<MarkdownDocument, FileChunk[]>> {
  const chunked = documents.map((document) => ({ document, chunks: cut(document) }));
  const vectors = await embedder.embedPassages(
    chunked.flatMap(({ document, chunks }) =>
      chunks.map((chunk) => passageOf({ ...document, ...chunk })),
    ),
  );
  let next = 0;
  return new Map(
    chunked.map(({ document, chunks }) => [
      document,
      chunks.map((chunk) => withVector(chunk, vectors[next++] ?? null)),
    ]),
  );
}

/** The file version of a document. Without chunks it refers to a version that is stored already. */
export function documentVersion(
  document: MarkdownDocument,
  {
    project,
    environments,
    embedder,
  }: { project: string; environments: readonly string[]; embedder: Embedder },
  chunks: readonly FileChunk[] | undefined,
): FileVersion {
  return {
    id: undefined,
    project,
    path: document.path,
    environments,
    releases: [],
    content: chunks === undefined ? null : document.text,
    warning: document.warning,
    versionKey: document.versionKey,
    versionId: undefined,
    embedder: embedder.fingerprint ?? embedder.name,
    keyIsContentHash: true,
    isStored: chunks === undefined,
    // The chunks are determined by the text, the chunker and the embedder, which the key hashes.
    fingerprint: document.versionKey,
    chunks: chunks ?? [],
  };
}
