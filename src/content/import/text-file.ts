import { setImmediate as nextTurn } from "node:timers/promises";
import { documentWarning } from "../../documents/document.ts";
import { titleSearch } from "../../documents/markdown/index.ts";
import { cutChunks } from "./records/cut.ts";
import type { FileChunk, FileVersion } from "./records/file-record.ts";
import { textKey } from "./records/text-key.ts";

/** About a millisecond of work. */
const CHUNKS_PER_TURN = 32;
/** About a millisecond of work, too. */
const BLOCKS_PER_TURN = 128;

interface TextFile {
  readonly path: string;
  readonly content: string;
  readonly isMarkdown: boolean;
}

/**
 * A file that arrived as text, cut into chunks without embeddings. Reading it takes time, so callers hold no lock
 * meanwhile, and the main thread goes on to answer other requests.
 */
export async function textVersion({ path, content, isMarkdown }: TextFile): Promise<FileVersion> {
  const versionKey = textKey(content, isMarkdown ? "markdown" : "plain");
  return {
    id: undefined,
    project: "",
    path,
    environments: [],
    releases: [],
    content,
    versionKey,
    versionId: undefined,
    keyIsContentHash: true,
    fingerprint: versionKey,
    title: await findTitle(path, content),
    warning: documentWarning(path, content),
    chunks: await cutText(content, isMarkdown),
  };
}

async function findTitle(path: string, content: string): Promise<string> {
  const search = titleSearch(path, content);
  for (let blocks = 1; ; blocks++) {
    const { done, value } = search.next();
    if (done) return value;
    if (blocks % BLOCKS_PER_TURN === 0) await nextTurn();
  }
}

/** Cuts a text into chunks. The main thread goes on to answer other requests meanwhile. */
export async function cutText(content: string, isMarkdown: boolean): Promise<FileChunk[]> {
  const chunks: FileChunk[] = [];
  for (const chunk of cutChunks(content, isMarkdown)) {
    chunks.push(chunk);
    if (chunks.length % CHUNKS_PER_TURN === 0) await nextTurn();
  }
  return chunks;
}
