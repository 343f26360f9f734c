import type { Retrieval, Tessera } from "../src/index.ts";

/** The part of LangChain.js's `DocumentInterface` that retrievers return. */
export interface Document {
  readonly pageContent: string;
  readonly metadata: Record<string, unknown>;
}

export interface RetrieverOptions {
  readonly client: Tessera;
  readonly project: string;
  /** Where and how to look, such as `{ target: { release: "v1" }, filter, limit: 8 }`. */
  readonly retrieval?: Omit<Retrieval, "query" | "vector" | "cursor">;
}

/**
 * A retriever with the method that LangChain.js calls. In an application it is a subclass of
 * `BaseRetriever` of `@langchain/core/retrievers`, with `_getRelevantDocuments` calling `invoke`. The
 * project's embedder embeds the query, so no model is needed here.
 */
export class TesseraRetriever {
  constructor(private readonly options: RetrieverOptions) {}

  async invoke(query: string): Promise<Document[]> {
    const { client, project, retrieval } = this.options;
    const found = await client.retrieve(project, { limit: 4, ...retrieval, query });
    return found.data.map(({ chunk, file, highlight, score, title, heading }) => {
      // A file without chunks is found by its words.
      const { content, ...place } = chunk ?? { ...file, content: highlight?.text ?? "" };
      return { pageContent: content, metadata: { ...place, score, title, heading } };
    });
  }
}
