import { batches, type Peer, rowOf, send } from "./peer.ts";

const NAME = "TesseraBench";
const BATCH = 200;

const idOf = (row: number) => `00000000-0000-4000-8000-${row.toString(16).padStart(12, "0")}`;
const rowOfId = (id: string) => Number.parseInt(id.slice(-12), 16);

interface Answer {
  readonly data: { readonly Get: Record<string, Array<{ _additional: { id: string } }>> };
  readonly errors?: readonly unknown[];
}

const definition = (ef: number) => ({
  class: NAME,
  vectorizer: "none",
  vectorIndexType: "hnsw",
  vectorIndexConfig: { distance: "cosine", ef },
});

/** A running Weaviate, by REST and GraphQL. Set DEFAULT_VECTORIZER_MODULE=none and ASYNC_INDEXING=false. */
export function weaviate(address: string): Peer {
  const schema = `${address}/v1/schema`;
  return {
    name: "Weaviate",
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await send("DELETE", `${schema}/${NAME}`).catch(() => {});
      await send("POST", schema, definition(64));
      for (const rows of batches(data.rows, BATCH)) {
        const objects = rows.map((row) => ({
          class: NAME,
          id: idOf(row),
          vector: Array.from(rowOf(data, row)),
        }));
        await send("POST", `${address}/v1/batch/objects`, { objects });
      }
    },
    async use(effort) {
      await send("PUT", `${schema}/${NAME}`, definition(effort));
    },
    async search(query, limit) {
      const near = `limit:${limit},nearVector:{vector:[${query.join(",")}]}`;
      const body = { query: `{Get{${NAME}(${near}){_additional{id}}}}` };
      const { data, errors } = await send<Answer>("POST", `${address}/v1/graphql`, body);
      if (errors !== undefined)
        throw new Error(`Weaviate: ${JSON.stringify(errors).slice(0, 300)}`);
      return (data.Get[NAME] ?? []).map((hit) => rowOfId(hit._additional.id));
    },
    async close() {
      await send("DELETE", `${schema}/${NAME}`);
    },
  };
}
