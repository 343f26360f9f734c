import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { freePort } from "../../support/processes/ports.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { installed, platform } from "./install.ts";
import { batches, type Peer, rowOf, send, Unavailable } from "./peer.ts";

const VERSION = "3.5.0";
const BINARY_VERSION = "1.3.4";
const NAME = "tessera-bench";
const BATCH = 200;
const START_TRIES = 100;
const START_PAUSE_MS = 100;

/** Starts the server that comes with the npm package `chromadb`. */
async function startServer(): Promise<{ address: string; pid: number }> {
  const binary = `chromadb-js-bindings-${platform()}@${BINARY_VERSION}`;
  const modules = await installed("chroma", `chromadb@${VERSION}`, binary);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "tessera-peers-"));
  const program = join(modules, "chromadb/dist/cli.mjs");
  const child = Bun.spawn(["node", program, "run", "--path", folder, "--port", String(port)], {
    stdout: "ignore",
    stderr: "pipe",
  });
  onCleanup(() => child.kill());
  const address = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < START_TRIES && child.exitCode === null; attempt++) {
    const answer = await fetch(`${address}/api/v2/heartbeat`).catch(() => undefined);
    if (answer?.ok) return { address, pid: child.pid };
    await Bun.sleep(START_PAUSE_MS);
  }
  child.kill();
  const errors = await child.stderr.text();
  const reason = /^.*(?:Error|GLIBC).*$/m.exec(errors)?.[0] ?? "no message";
  throw new Unavailable(`its server does not start here: ${reason.trim()}`);
}

/** A running Chroma, or the server of its npm package. */
export async function chroma(given?: string): Promise<Peer> {
  const started = given === undefined ? await startServer() : undefined;
  const address = given ?? started?.address;
  const base = `${address}/api/v2/tenants/default_tenant/databases/default_database/collections`;
  let collection = "";
  return {
    name: given === undefined ? `Chroma ${BINARY_VERSION}` : "Chroma",
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await send("DELETE", `${base}/${NAME}`).catch(() => {});
      const configuration = { hnsw: { space: "cosine" } };
      const { id } = await send<{ id: string }>("POST", base, { name: NAME, configuration });
      collection = `${base}/${id}`;
      for (const rows of batches(data.rows, BATCH)) {
        const embeddings = rows.map((row) => Array.from(rowOf(data, row)));
        await send("POST", `${collection}/add`, { ids: rows.map(String), embeddings });
      }
    },
    async use(effort) {
      await send("PUT", collection, { new_configuration: { hnsw: { ef_search: effort } } });
    },
    async search(query, limit) {
      const body = { query_embeddings: [Array.from(query)], n_results: limit, include: [] };
      const { ids } = await send<{ ids: string[][] }>("POST", `${collection}/query`, body);
      return (ids[0] ?? []).map(Number);
    },
    ...(started === undefined ? {} : { cpuSeconds: () => cpuSeconds(started.pid) }),
    async close() {
      await send("DELETE", `${base}/${NAME}`);
    },
  };
}
