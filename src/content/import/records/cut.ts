import { markdownChunks, plainChunks } from "../../../documents/markdown/index.ts";
import type { FileChunk } from "./file-record.ts";
import { sortedJson } from "./sorted-json.ts";

/** Cuts a text into chunks without embeddings, one by one. */
export function* cutChunks(content: string, isMarkdown: boolean): Generator<FileChunk> {
  let index = 0;
  for (const chunk of isMarkdown ? markdownChunks(content) : plainChunks(content)) {
    yield {
      index: index++,
      content: chunk.content,
      startOffset: chunk.start_offset,
      endOffset: chunk.end_offset,
      tokenCount: chunk.token_count,
      metadata: sortedJson(chunk.metadata),
      dimension: null,
      embedding: null,
    };
  }
}
