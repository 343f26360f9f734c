import type { Tessera } from "../src/index.ts";

/** The part of LangChain.js's `DocumentInterface` that retrievers return. */
export interface Document {
  readonly pageContent: string;
  readonly metadata: Record<string, unknown>;
}

/** The part of LangChain.js's `EmbeddingsInterface` that a retriever needs. */
export interface Embeddings {
  embedQuery(text: string): Promise<number[]>;
}

export interface RetrieverOptions {
  readonly client: Tessera;
  readonly embeddings: Embeddings;
  readonly project: string;
  readonly environment: string;
  readonly limit?: number;
}

/**
 * A retriever with the method that LangChain.js calls. In an application it is a subclass of
 * `BaseRetriever` of `@langchain/core/retrievers`, with `_getRelevantDocuments` calling `invoke`.
 */
export class TesseraRetriever {
  constructor(private readonly options: RetrieverOptions) {}

  async invoke(query: string): Promise<Document[]> {
    const { client, embeddings, project, environment, limit = 4 } = this.options;
    const vector = await embeddings.embedQuery(query);
    const found = await client.searchEnvironment(project, environment, vector, { limit });
    return found.data.map(({ chunk: { content, ...metadata }, score }) => ({
      pageContent: content,
      metadata: { ...metadata, score },
    }));
  }
}
