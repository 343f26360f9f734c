import { expect, setDefaultTimeout, test } from "bun:test";
import { runCommand } from "../../support/processes/process.ts";
import { chromaStandIn, qdrantStandIn, redisStandIn, weaviateStandIn } from "./peer-stand-ins.ts";

setDefaultTimeout(180_000);

const SMALL = "--vectors 150 --queries 10 --clients 2 --seconds 0.3 --rounds 1".split(" ");

test("peers that run elsewhere are loaded, searched and compared with Tessera", async () => {
  const { status, stdout, stderr } = await runCommand([
    "bench",
    "peers",
    ...SMALL,
    ...["--peers", "usearch", "--qdrant", qdrantStandIn(), "--weaviate", weaviateStandIn()],
    ...["--chroma-url", `${chromaStandIn()}/`, "--redis", redisStandIn()],
  ]);
  expect(status, stderr).toBe(0);
  const names = ["Tessera", "usearch bf16, in process", "Qdrant", "Weaviate", "Chroma"];
  for (const name of [...names, "Redis vector sets"]) {
    // The stand-ins compare all vectors, so whatever was sent wrongly lowers the recall.
    const row = new RegExp(
      `^\\| ${name} \\| 1\\.0000 \\| (-|\\d+) \\| \\d+ \\| \\d+\\.\\d\\d \\| \\d`,
      "m",
    );
    expect(stdout).toMatch(row);
  }
  expect(stdout).toMatch(/^\| Tessera \| 1\.0000 \| - \| \d+ \| 1\.00 \|/m);
});

test("a peer that does not answer is left out, with the reason", async () => {
  const { status, stdout, stderr } = await runCommand([
    "bench",
    "peers",
    ...SMALL,
    ...["--peers", "", "--qdrant", "http://127.0.0.1:9", "--redis", "redis://127.0.0.1:9"],
  ]);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("qdrant was not measured: http://127.0.0.1:9 does not answer");
  expect(stdout).toContain("redis was not measured: Redis does not answer");
});

test("an engine that is not known is refused", async () => {
  const { status, stderr } = await runCommand(["bench", "peers", ...SMALL, "--peers", "abacus"]);
  expect(status).not.toBe(0);
  expect(stderr).toContain("--peers are usearch, lancedb, chroma, not abacus");
});
