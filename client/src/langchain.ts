import { Document, type DocumentInterface } from "@langchain/core/documents";
import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import { type MaxMarginalRelevanceSearchOptions, VectorStore } from "@langchain/core/vectorstores";
import { textOf } from "./hit.ts";
import type { FileScope, Retrieval, Schemas, Tessera } from "./index.ts";
import { encodeVector } from "./vector.ts";

/** What every document says of its place, beside the metadata of its chunk. */
export interface HitMetadata {
  readonly file_path: string;
  readonly title: string | null;
  readonly heading: string | null;
  readonly score: number;
  /** Null for a file that has no chunks and was found by its words. */
  readonly chunk_id: string | null;
  readonly [key: string]: unknown;
}

/** A hit as a document. That of a file without chunks has the passage that was found. */
function documentOf(hit: Schemas["RetrieveHit"]): Document<HitMetadata> {
  const { chunk, file, score, title = null, heading = null } = hit;
  const metadata = chunk?.metadata as Record<string, unknown> | null | undefined;
  const place = { file_path: chunk?.file_path ?? file?.path ?? "", title, heading, score };
  return new Document({
    pageContent: textOf(hit),
    metadata: { ...metadata, ...place, chunk_id: chunk?.id ?? null },
    ...(chunk == null ? {} : { id: chunk.file_path }),
  });
}

export interface TesseraRetrieverInput extends BaseRetrieverInput {
  readonly client: Tessera;
  /** The project's slug or id. */
  readonly project: string;
  /** The most documents that are returned. Default: 4. */
  readonly k?: number;
  /** Where and how to look, such as `{ target: { release: "v1" }, mode: "semantic", filter }`. */
  readonly retrieval?: Omit<Retrieval, "query" | "vector" | "cursor" | "limit">;
}

/** Finds documents by text. The project's embedder embeds the question, so that no model is needed here. */
export class TesseraRetriever extends BaseRetriever<HitMetadata> {
  static override lc_name() {
    return "TesseraRetriever";
  }

  override lc_namespace = ["tessera", "retrievers"];

  constructor(private readonly input: TesseraRetrieverInput) {
    super(input);
  }

  override async _getRelevantDocuments(query: string): Promise<Document<HitMetadata>[]> {
    const { client, project, retrieval = {}, k = 4 } = this.input;
    const { data } = await client.retrieve(project, { ...retrieval, query, limit: k });
    return data.map(documentOf);
  }
}

export interface TesseraVectorStoreInput extends FileScope {
  readonly client: Tessera;
  /** The project's slug or id. */
  readonly project: string;
}

const LAMBDA_DEFAULT = 0.5;
/** The most hits of a page. */
const PAGE_MAX = 100;
const ENVIRONMENT_DEFAULT = "production";
/** The dimensions in which Tessera stores vectors. */
const DIMENSIONS = [768, 1024, 1536, 3072, 4096];

/** A vector with zeros up to the next dimension of Tessera's, which change no cosine similarity. */
function padded(vector: readonly number[]): readonly number[] {
  const dimension = DIMENSIONS.find((each) => each >= vector.length) ?? vector.length;
  return [...vector, ...Array.from({ length: dimension - vector.length }, () => 0)];
}

type AddOptions = { readonly ids?: readonly string[] };

/**
 * Keeps documents with vectors of a model of the application's. Each document is a file with one chunk, whose path
 * is the document's id. Searches see all changes that were made with the same client before.
 */
export class TesseraVectorStore extends VectorStore {
  declare FilterType: Record<string, unknown>;

  constructor(
    embeddings: EmbeddingsInterface,
    private readonly input: TesseraVectorStoreInput,
  ) {
    super(embeddings, input);
  }

  static override async fromTexts(
    texts: string[],
    metadatas: object[] | object,
    embeddings: EmbeddingsInterface,
    input: TesseraVectorStoreInput,
  ): Promise<TesseraVectorStore> {
    const documents = texts.map((pageContent, i) => {
      const metadata = Array.isArray(metadatas) ? metadatas[i] : metadatas;
      return new Document({ pageContent, metadata });
    });
    return await TesseraVectorStore.fromDocuments(documents, embeddings, input);
  }

  static override async fromDocuments(
    documents: DocumentInterface[],
    embeddings: EmbeddingsInterface,
    input: TesseraVectorStoreInput,
  ): Promise<TesseraVectorStore> {
    const store = new TesseraVectorStore(embeddings, input);
    await store.addDocuments(documents);
    return store;
  }

  override _vectorstoreType(): string {
    return "tessera";
  }

  override async addDocuments(
    documents: DocumentInterface[],
    options: AddOptions = {},
  ): Promise<string[]> {
    const texts = documents.map(({ pageContent }) => pageContent);
    return await this.addVectors(await this.embeddings.embedDocuments(texts), documents, options);
  }

  /** Adds documents, or replaces those with the same ids. Returns the ids. Throws if one of them is refused. */
  override async addVectors(
    vectors: number[][],
    documents: DocumentInterface[],
    { ids = [] }: AddOptions = {},
  ): Promise<string[]> {
    const { environment = ENVIRONMENT_DEFAULT } = this.input;
    const paths = documents.map(({ id }, i) => ids[i] ?? id ?? crypto.randomUUID());
    const records = documents.map(({ pageContent, metadata }, i) => ({
      record: "file",
      path: paths[i],
      content: pageContent,
      environments: [environment],
      ...(typeof metadata["title"] === "string"
        ? { frontmatter: { title: metadata["title"] } }
        : {}),
      chunks: [
        { content: pageContent, embedding: encodeVector(padded(vectors[i] ?? [])), metadata },
      ],
    }));
    await this.#write([{ record: "environment", name: environment }, ...records]);
    return paths;
  }

  /** Takes documents out of the environment; releases keep them. Unknown ids are ignored. */
  override async delete({ ids }: { readonly ids: readonly string[] }): Promise<void> {
    const { environment = ENVIRONMENT_DEFAULT } = this.input;
    const place = { record: "file", environments: [environment], deleted: true };
    await this.#write(ids.map((path) => ({ ...place, path })));
  }

  override async similaritySearchVectorWithScore(
    query: number[],
    k: number,
    filter?: this["FilterType"],
  ): Promise<[Document<HitMetadata>, number][]> {
    const hits = await this.#hits(query, k, filter);
    return hits.map((hit) => [documentOf(hit), hit.score]);
  }

  /** Tessera compares the best 256 documents with each other, so `fetchK` is not needed. */
  override async maxMarginalRelevanceSearch(
    query: string,
    options: MaxMarginalRelevanceSearchOptions<this["FilterType"]>,
  ): Promise<Document<HitMetadata>[]> {
    const { k, lambda = LAMBDA_DEFAULT, filter } = options;
    const vector = await this.embeddings.embedQuery(query);
    const hits = await this.#hits(vector, k, filter, 1 - lambda);
    return hits.map(documentOf);
  }

  async #hits(query: number[], k: number, filter: Retrieval["filter"], diversity = 0) {
    const { client, project, environment, release } = this.input;
    const working = { environment: environment ?? ENVIRONMENT_DEFAULT };
    const target = release === undefined ? working : { release };
    const question: Retrieval = {
      ...({ vector: padded(query), mode: "semantic", target, threshold: 0 } as const),
      limit: Math.min(k, PAGE_MAX),
      ...(filter === undefined ? {} : { filter }),
      ...(diversity === 0 ? {} : { diversity }),
    };
    const { change } = client;
    const options = change === undefined ? {} : { minChange: change };
    const hits: Schemas["RetrieveHit"][] = [];
    if (k <= 0) return hits;
    for await (const hit of client.allRetrieved(project, question, options)) {
      hits.push(hit);
      if (hits.length >= k) break;
    }
    return hits;
  }

  async #write(records: readonly object[]): Promise<void> {
    if (records.length === 0) return;
    const { client, project } = this.input;
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    const { errors } = await client.importRecords(project, lines, { strict: true });
    const [first] = errors;
    if (first !== undefined) throw new Error(`line ${first.line}: ${first.message}`);
  }
}
