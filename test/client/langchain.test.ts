import { expect, test } from "bun:test";
import { Document } from "@langchain/core/documents";
import { Embeddings } from "@langchain/core/embeddings";
import { RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { Tessera } from "../../client/src/index.ts";
import {
  TesseraRetriever,
  TesseraVectorStore,
  type TesseraVectorStoreInput,
} from "../../client/src/langchain.ts";
import { sharedApi } from "../../support/api/api.ts";

/** Texts that share words have similar vectors: one coordinate per word, as many as a small model has. */
class ByWords extends Embeddings {
  constructor() {
    super({});
  }

  override async embedQuery(text: string): Promise<number[]> {
    const vector = Array.from({ length: 384 }, () => 0);
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
      vector[Number(Bun.hash.crc32(word) % 384)] = 1;
    }
    return vector;
  }

  override embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((text) => this.embedQuery(text)));
  }
}

const api = await sharedApi();
const member = await api.user();
const { key } = await api.key(member);
const client = new Tessera({ baseUrl: api.url, credential: key });
const embeddings = new ByWords();

async function projectOf(embedder?: string): Promise<TesseraVectorStoreInput> {
  const slug = `p-${crypto.randomUUID()}`;
  await client.createProject({ name: "P", slug, ...(embedder === undefined ? {} : { embedder }) });
  return { client, project: slug };
}

const documentsOf = (...texts: string[]) =>
  texts.map((pageContent, i) => new Document({ pageContent, metadata: { page: i } }));
const textsOf = (found: readonly Document[]) => found.map(({ pageContent }) => pageContent);

test("a new store finds nothing, deletes nothing and adds nothing", async () => {
  const store = new TesseraVectorStore(embeddings, await projectOf());
  expect(await store.addDocuments([])).toEqual([]);
  expect(await store.addDocuments(documentsOf("a fox"))).toHaveLength(1);
  expect(await store.similaritySearch("whale", 3)).toHaveLength(1);
  await store.delete({ ids: ["unknown"] });
  expect(await store.similaritySearch("fox", 0)).toEqual([]);
});

test("documents are found at once after they are added, replaced by id, and gone after they are deleted", async () => {
  const store = await TesseraVectorStore.fromDocuments(
    documentsOf("a quick fox", "a slow whale"),
    embeddings,
    await projectOf(),
  );
  const [id] = await store.addDocuments(documentsOf("a red fox"), { ids: ["fox"] });
  expect(id).toBe("fox");
  const [best] = await store.similaritySearchWithScore("red fox", 1);
  expect(best?.[0]).toMatchObject({ id: "fox", pageContent: "a red fox" });
  expect(best?.[0].metadata).toMatchObject({ page: 0, file_path: "fox", score: best?.[1] });
  await store.addDocuments([new Document({ id: "fox", pageContent: "a blue fox" })]);
  expect(textsOf(await store.similaritySearch("red fox", 9)).sort()).toEqual([
    "a blue fox",
    "a quick fox",
    "a slow whale",
  ]);
  await store.delete({ ids: ["fox"] });
  expect(textsOf(await store.similaritySearch("fox", 9)).sort()).toEqual([
    "a quick fox",
    "a slow whale",
  ]);
});

test("a filter narrows a search to documents by their metadata", async () => {
  const store = await TesseraVectorStore.fromTexts(
    ["one fox", "two foxes", "three foxes"],
    [{ page: 1 }, { page: 2 }, { page: 3 }],
    embeddings,
    await projectOf(),
  );
  const found = await store.similaritySearch("fox", 9, { "metadata.page": { $gte: 2 } });
  expect(found.map(({ metadata }) => metadata["page"]).sort()).toEqual([2, 3]);
});

test("maximal marginal relevance leaves out what repeats", async () => {
  const store = new TesseraVectorStore(embeddings, await projectOf());
  await store.addDocuments(documentsOf("red fox runs", "red fox runs fast", "red whale swims"));
  const options = { k: 2, fetchK: 3, lambda: 0.3 };
  const found = await store.maxMarginalRelevanceSearch("red fox runs", options);
  expect(textsOf(found)).toEqual(["red fox runs", "red whale swims"]);
  const retriever = store.asRetriever({ k: 2, searchType: "mmr", searchKwargs: { fetchK: 3 } });
  expect(await retriever.invoke("red fox runs")).toHaveLength(2);
});

test("more than a page of results is read", async () => {
  const store = new TesseraVectorStore(embeddings, await projectOf());
  await store.addDocuments(documentsOf(...Array.from({ length: 130 }, (_, i) => `fox ${i}`)));
  expect(new Set(textsOf(await store.similaritySearch("fox", 120))).size).toBe(120);
});

test("a refused document is an error, and none of the others is kept", async () => {
  const store = new TesseraVectorStore(embeddings, await projectOf());
  const documents = documentsOf("a fox", "a\u0000whale");
  await expect(store.addDocuments(documents)).rejects.toThrow("line 3");
  expect(await store.similaritySearch("fox", 9)).toEqual([]);
});

test("a retriever answers by text, in pipes and sequences, with one shape of metadata", async () => {
  const { project } = await projectOf("hashing");
  await client.putFile(project, "fox.md", "# Fox\n\nThe fox runs.");
  await client.putFile(project, "title.md", "---\ntitle: A whale of a fox\n---\n");
  const { change = "" } = client;
  await client.retrieve(project, { query: "fox" }, { minChange: change });
  const retriever = new TesseraRetriever({ client, project, k: 9, retrieval: { mode: "keyword" } });
  const found = await retriever.invoke("fox");
  expect(found.map(({ metadata }) => metadata.file_path).sort()).toEqual(["fox.md", "title.md"]);
  for (const { pageContent, metadata } of found) {
    expect(pageContent).not.toBe("");
    expect(Object.keys(metadata)).toEqual(
      expect.arrayContaining(["file_path", "title", "heading", "score", "chunk_id"]),
    );
  }
  const join = RunnableLambda.from((documents: Document[]) => textsOf(documents).join("\n"));
  const sequence = RunnableSequence.from([retriever, join]);
  expect(await sequence.invoke("runs")).toContain("The fox runs.");
  expect(await retriever.pipe(join).invoke("runs")).toContain("The fox runs.");
});
