import { readdirSync, readFileSync } from "node:fs";
import postgres, { type Sql } from "postgres";
import { rowOf } from "../harness/vector-files.ts";
import { batches, type Peer, Unavailable } from "./peer.ts";

const ADD_ROWS = 500;
const BUILD_MEMORY = "1GB";

/** As pgvector reads a vector. */
const textOf = (vector: Float32Array) => `[${vector.join(",")}]`;

/** The parent of a process of this machine. */
function parentOf(pid: string | number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** CPU seconds of the processes of a PostgreSQL server that run now. */
function cpuSecondsBelow(server: number): number {
  let nanoseconds = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (parentOf(pid) !== server) continue;
      nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return nanoseconds / 1e9;
}

/** pgvector's HNSW index in a PostgreSQL of this machine, asked by SQL. The table is dropped at the end. */
export async function pgvector(url: string, clients: number): Promise<Peer> {
  if (url === "") throw new Unavailable("--pgvector names no database that has the extension");
  const connect = (effort: number): Sql =>
    postgres(url, {
      max: clients,
      onnotice() {},
      connection: { options: `-c hnsw.ef_search=${effort}` },
    });
  let sql = connect(1);
  await sql`CREATE EXTENSION IF NOT EXISTS vector`;
  const [row] = await sql<{ pid: number; version: string }[]>`
    SELECT pg_backend_pid() AS pid, extversion AS version FROM pg_extension WHERE extname = 'vector'`;
  const server = parentOf(row?.pid ?? 0);
  return {
    name: `pgvector ${row?.version}, SQL`,
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await sql`DROP TABLE IF EXISTS tessera_peer`;
      await sql.unsafe(`CREATE TABLE tessera_peer (id integer, v vector(${data.dimension}))`);
      for (const numbers of batches(data.rows, ADD_ROWS)) {
        const vectors = numbers.map((number) => textOf(rowOf(data, number)));
        await sql`
          INSERT INTO tessera_peer
          SELECT id, v::vector FROM unnest(${numbers}::integer[], ${vectors}::text[]) AS u (id, v)`;
      }
      await sql.begin(async (tx) => {
        await tx.unsafe(`SET LOCAL maintenance_work_mem = '${BUILD_MEMORY}'`);
        await tx`
          CREATE INDEX ON tessera_peer USING hnsw (v vector_cosine_ops) WITH (m = 16, ef_construction = 128)`;
      });
    },
    async use(effort) {
      await sql.end();
      sql = connect(effort);
    },
    async search(query, limit) {
      const rows = await sql<{ id: number }[]>`
        SELECT id FROM tessera_peer ORDER BY v <=> ${textOf(query)}::vector LIMIT ${limit}`;
      return rows.map(({ id }) => id);
    },
    cpuSeconds: () => cpuSecondsBelow(server),
    async bytes() {
      const [size] = await sql<{ bytes: string }[]>`
        SELECT pg_total_relation_size('tessera_peer') AS bytes`;
      return Number(size?.bytes);
    },
    async close() {
      await sql`DROP TABLE tessera_peer`;
      await sql.end();
    },
  };
}
