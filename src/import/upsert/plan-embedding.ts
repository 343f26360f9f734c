import { isMarkdownPath } from "../../markdown/index.ts";
import { hasDimension } from "../embedders/project-embedders.ts";
import { cutChunks } from "../records/cut.ts";
import { RecordError } from "../records/errors.ts";
import type { FileChunk, FileVersion } from "../records/file-record.ts";
import type { BatchPlan } from "./plan.ts";

/** Throws unless the embeddings are comparable with those of the project. */
export function requireEmbedder(
  record: FileVersion,
  own: string | null,
  { embedders }: BatchPlan,
): void {
  if (own === null) return;
  const other = record.chunks.find(
    ({ dimension }) => dimension !== null && !hasDimension(own, dimension),
  );
  const given = record.embedder;
  const named = given !== undefined && Object.hasOwn(embedders, given) ? embedders[given] : given;
  const isOther = named !== undefined && named !== own;
  if (!isOther && other === undefined) return;
  if (record.chunks.every(({ dimension }) => dimension === null)) return;
  const by = named ?? `another one, of ${other?.dimension} dimensions`;
  throw new RecordError(`embedder: that of the project is ${own}, and the embeddings are by ${by}`);
}

const cutRecords = new WeakMap<FileVersion, readonly FileChunk[]>();

/** The chunks of a file; those of a text that nobody has cut, if an embedder is to embed them. */
export function chunksToStore(record: FileVersion, embedder: string | null): readonly FileChunk[] {
  const { chunks, content, path } = record;
  if (chunks.length > 0 || content === null || embedder === null) return chunks;
  // A batch is planned several times.
  const cut = cutRecords.get(record) ?? [...cutChunks(content, isMarkdownPath(path))];
  cutRecords.set(record, cut);
  return cut;
}

/** True if a chunk, or the text that is not cut, has no embedding yet. */
export function isToBeEmbedded(
  { chunks, content }: FileVersion,
  stored: readonly FileChunk[],
): boolean {
  // The function has_text of the database says the same.
  const isUncut = chunks.length === 0 && /\S/.test(content ?? "");
  return isUncut || stored.some(({ embedding }) => embedding === null);
}
