import { expect, test } from "bun:test";
import { OPTIONS, run } from "../../bench/peers/run.ts";
import { inProcess } from "./in-process.ts";
import { chromaStandIn, qdrantStandIn, redisStandIn, weaviateStandIn } from "./peer-stand-ins.ts";

const SMALL = { vectors: 100, queries: 5, clients: 2, seconds: 0.1, rounds: 1 };

test("peers that run elsewhere are loaded, searched and compared with Tessera", async () => {
  const { context, written } = inProcess();
  const given = {
    ...{ peers: "usearch", qdrant: qdrantStandIn(), weaviate: weaviateStandIn() },
    ...{ "chroma-url": `${chromaStandIn()}/`, redis: redisStandIn() },
  };
  const { rows, absent } = await run({ ...OPTIONS, ...SMALL, ...given }, context);
  expect(absent).toEqual([]);
  const others = ["usearch bf16, in process", "Qdrant", "Weaviate", "Chroma", "Redis vector sets"];
  expect(rows.map(({ name }) => name)).toEqual(["Tessera", ...others]);
  for (const { name, recall, throughput, p50, p99 } of rows) {
    // The stand-ins compare all vectors, so whatever was sent wrongly lowers the recall.
    expect(recall, name).toBe(1);
    expect(throughput, name).toBeGreaterThan(0);
    expect(p99, name).toBeGreaterThanOrEqual(p50);
  }
  expect(written.out).not.toMatch(/NaN|undefined|Infinity/);
  expect(written.out).toMatch(/^\| Tessera \| 1\.0000 \| - \| \d+ \| 1\.00 \|/m);
});

test("a peer that does not answer is left out, with the reason", async () => {
  const { context, written } = inProcess();
  const nowhere = { peers: "", qdrant: "http://127.0.0.1:9", redis: "redis://127.0.0.1:9" };
  const options = { ...OPTIONS, ...SMALL, vectors: 20, seconds: 0.02, ...nowhere };
  const { rows, absent } = await run(options, context);
  expect(rows.map(({ name }) => name)).toEqual(["Tessera"]);
  expect(absent).toEqual([
    ["qdrant", expect.stringContaining("http://127.0.0.1:9 does not answer")],
    ["redis", expect.stringContaining("Redis does not answer")],
  ]);
  expect(written.out).toContain("qdrant was not measured: http://127.0.0.1:9 does not answer");
});

test("an engine that is not known is refused", async () => {
  const running = run({ ...OPTIONS, ...SMALL, peers: "abacus" }, inProcess().context);
  await expect(running).rejects.toThrow("--peers are usearch, lancedb, chroma, not abacus");
});
