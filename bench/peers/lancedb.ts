import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { rowOf } from "../harness/vector-files.ts";
import { installed, platform } from "./install.ts";
import { batches, type Peer } from "./peer.ts";
import { ownCpuSeconds } from "./usearch.ts";

const VERSION = "0.39.0";
const ADD_ROWS = 5_000;

/** The parts of @lancedb/lancedb that are used; the package is not installed with Tessera. */
interface Query {
  distanceType(type: "cosine"): Query;
  ef(effort: number): Query;
  refineFactor(factor: number): Query;
  select(columns: string[]): Query;
  limit(count: number): Query;
  toArray(): Promise<Array<{ id: number }>>;
}

interface Table {
  add(rows: object[]): Promise<unknown>;
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  waitForIndex(names: string[], timeoutSeconds: number): Promise<void>;
  vectorSearch(query: Float32Array): Query;
}

interface LanceDb {
  connect(folder: string): Promise<{ createTable(name: string, rows: object[]): Promise<Table> }>;
  Index: { hnswSq(options: { distanceType: "cosine"; numPartitions: number }): unknown };
}

const BUILD_SECONDS = 600;
/** Candidates per result that are compared in full precision. */
const REFINE = 4;

function bytesBelow(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => statSync(join(folder, name))).filter((file) => file.isFile());
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** LanceDB in this process, with its HNSW index over scalar quantisation, refined. */
export async function lancedb(): Promise<Peer> {
  const modules = await installed(
    "lancedb",
    `@lancedb/lancedb@${VERSION}`,
    `@lancedb/lancedb-${platform()}@${VERSION}`,
  );
  const library = (await import(join(modules, "@lancedb/lancedb/dist/index.js"))) as LanceDb;
  const folder = temporaryFolder("lancedb");
  let table: Table;
  let ef = 0;
  return {
    name: `LanceDB ${VERSION}, in process`,
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      const database = await library.connect(folder);
      const rows = (numbers: readonly number[]) =>
        numbers.map((id) => ({ id, vector: Array.from(rowOf(data, id)) }));
      for (const numbers of batches(data.rows, ADD_ROWS)) {
        if (numbers[0] === 0) table = await database.createTable("vectors", rows(numbers));
        else await table.add(rows(numbers));
      }
      const config = library.Index.hnswSq({ distanceType: "cosine", numPartitions: 1 });
      await table.createIndex("vector", { config });
      await table.waitForIndex(["vector_idx"], BUILD_SECONDS);
    },
    async use(effort) {
      ef = effort;
    },
    async search(query, limit) {
      const search = table
        .vectorSearch(query)
        .distanceType("cosine")
        .ef(Math.max(ef, limit * REFINE));
      const found = await search
        .refineFactor(REFINE)
        .select(["id", "_distance"])
        .limit(limit)
        .toArray();
      return found.map(({ id }) => Number(id));
    },
    cpuSeconds: ownCpuSeconds,
    bytes: () => bytesBelow(folder),
  };
}
