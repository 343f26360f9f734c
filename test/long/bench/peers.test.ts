import { expect, test } from "bun:test";
import { OPTIONS, run } from "../../../bench/peers/run.ts";
import { inProcess } from "./in-process.ts";

const SMALL = { vectors: 100, queries: 5, clients: 2, seconds: 0.1, rounds: 1 };

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
