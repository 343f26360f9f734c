import { batches, type Peer, rowOf, send } from "./peer.ts";

const NAME = "tessera-bench";
const BATCH = 200;
const POLL_MS = 500;

interface Collection {
  readonly result: { readonly status: string };
}

interface Points {
  readonly result: { readonly points: ReadonlyArray<{ readonly id: number }> };
}

/** A running Qdrant, by its REST API. */
export function qdrant(address: string): Peer {
  const collection = `${address}/collections/${NAME}`;
  let ef = 0;
  return {
    name: "Qdrant",
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await send("DELETE", collection).catch(() => {});
      // Without the threshold a small collection would be scanned instead of searched by its graph.
      const optimizers_config = { indexing_threshold: 1 };
      const vectors = { size: data.dimension, distance: "Cosine" };
      await send("PUT", collection, { vectors, optimizers_config });
      for (const rows of batches(data.rows, BATCH)) {
        const points = rows.map((id) => ({ id, vector: Array.from(rowOf(data, id)) }));
        await send("PUT", `${collection}/points?wait=true`, { points });
      }
      while ((await send<Collection>("GET", collection)).result.status !== "green") {
        await Bun.sleep(POLL_MS);
      }
    },
    async use(effort) {
      ef = effort;
    },
    async search(query, limit) {
      const body = { query: Array.from(query), limit, params: { hnsw_ef: ef } };
      const { result } = await send<Points>("POST", `${collection}/points/query`, body);
      return result.points.map(({ id }) => id);
    },
    async close() {
      await send("DELETE", collection);
    },
  };
}
