import { Redis } from "ioredis";
import { batches, type Peer, rowOf, Unavailable } from "./peer.ts";

const KEY = "tessera-bench";
const BATCH = 500;

const bytesOf = (vector: Float32Array) => Buffer.from(vector.buffer);

/** Vector sets of Redis 8 or later, with their default quantisation to 8 bits. */
export function redisVectorSets(url: string): Peer {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: null });
  let ef = 0;
  return {
    name: "Redis vector sets",
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await redis.connect().catch((error: Error) => {
        throw new Unavailable(`Redis does not answer: ${error.message}`);
      });
      await redis.del(KEY);
      for (const rows of batches(data.rows, BATCH)) {
        const added = rows.map((row) =>
          redis.call("VADD", KEY, "FP32", bytesOf(rowOf(data, row)), String(row), "EF", "128"),
        );
        await Promise.all(added).catch((error: Error) => {
          throw new Unavailable(`vector sets need Redis 8: ${error.message}`);
        });
      }
    },
    async use(effort) {
      ef = effort;
    },
    async search(query, limit) {
      const args = [KEY, "FP32", bytesOf(query.slice()), "COUNT", String(limit), "EF", String(ef)];
      const found = (await redis.call("VSIM", ...args)) as string[];
      return found.map(Number);
    },
    async close() {
      await redis.del(KEY);
      redis.disconnect();
    },
  };
}
