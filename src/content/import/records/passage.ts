import { encodeEmbedding } from "../../../documents/embedding.ts";
import { isMarkdownPath, plainText } from "../../../documents/markdown/index.ts";
import type { Passage } from "../../../embed/embedders/embedder.ts";
import { embedPassage } from "../../../embed/embedders/feature-hashing.ts";
import type { FileChunk } from "./file-record.ts";

const BYTES_PER_ELEMENT = 4;

interface TextOfChunk {
  readonly path: string;
  /** The title of the file. */
  readonly title: string;
  readonly content: string;
  /** JSON, whose `headings` may be any value. */
  readonly metadata: string;
}

/** A chunk as its embedder sees it: the text of its Markdown, below the title of its file and its own headings. */
export function passageOf({ path, title, content, metadata }: TextOfChunk): Passage {
  const { headings }: { headings?: unknown } = JSON.parse(metadata) ?? {};
  const own = Array.isArray(headings) ? headings.filter((each) => typeof each === "string") : [];
  return {
    content: isMarkdownPath(path) ? plainText(content) || content : content,
    headings: own[0] === title ? own : [title, ...own],
  };
}

/** The chunk with its embedding; null leaves it without. */
export function withVector(chunk: FileChunk, vector: Float32Array | null): FileChunk {
  if (vector === null) return chunk;
  const { dimension, base64 } = encodeEmbedding(vector);
  return { ...chunk, dimension, embedding: base64 };
}

/**
 * A file with more chunks or characters without embeddings is embedded later, as by any other embedder: others wait
 * while a file is stored. It takes about three milliseconds.
 */
const EMBEDDED_HERE_CHUNKS = 32;
const EMBEDDED_HERE_CHARS = 65_536;

/** The chunks of a small file, with vectors of the built-in embedder where they have none. */
export function embedHere(
  file: Pick<TextOfChunk, "path" | "title">,
  chunks: readonly FileChunk[],
): readonly FileChunk[] {
  const texts = chunks.filter(({ embedding }) => embedding === null);
  const chars = texts.reduce((sum, { content }) => sum + content.length, 0);
  if (texts.length > EMBEDDED_HERE_CHUNKS || chars > EMBEDDED_HERE_CHARS) return chunks;
  return chunks.map((chunk) => {
    if (chunk.embedding !== null) return chunk;
    const { headings, content } = passageOf({ ...file, ...chunk });
    return withVector(chunk, embedPassage(headings, content));
  });
}

/** The bytes of the embeddings. */
export function embeddingBytes(chunks: readonly FileChunk[]): number {
  return chunks.reduce((sum, { dimension }) => sum + BYTES_PER_ELEMENT * (dimension ?? 0), 0);
}
