import postgres from "postgres";
import { batches, type Peer, rowOf, Unavailable } from "./peer.ts";

const TABLE = "tessera_bench";
const BATCH = 500;

const text = (vector: Float32Array) => `[${vector.join(",")}]`;

/** A PostgreSQL with the extension pgvector 0.5 or later. */
export function pgvector(url: string, connections: number): Peer {
  const open = (ef: number) =>
    postgres(url, {
      max: connections,
      onnotice: () => {},
      // A custom setting is accepted before the extension is loaded.
      connection: { "hnsw.ef_search": String(ef) } as Record<string, string>,
    });
  let sql = open(40);
  return {
    name: "pgvector",
    efforts: [16, 32, 64, 128, 256, 512],
    async load(data) {
      await sql`CREATE EXTENSION IF NOT EXISTS vector`.catch((error: Error) => {
        throw new Unavailable(`the extension cannot be created: ${error.message}`);
      });
      await sql.unsafe(`DROP TABLE IF EXISTS ${TABLE}`);
      await sql.unsafe(`CREATE TABLE ${TABLE} (id integer, embedding vector(${data.dimension}))`);
      for (const rows of batches(data.rows, BATCH)) {
        const vectors = rows.map((row) => text(rowOf(data, row)));
        await sql`INSERT INTO ${sql(TABLE)} (id, embedding)
          SELECT u.id, u.embedding::vector FROM unnest(${rows}::integer[], ${vectors}::text[])
            AS u (id, embedding)`;
      }
      await sql.unsafe(
        `CREATE INDEX ON ${TABLE} USING hnsw (embedding vector_cosine_ops) WITH (m = 16, ef_construction = 128)`,
      );
      await sql.unsafe(`ANALYZE ${TABLE}`);
    },
    async use(effort) {
      await sql.end();
      sql = open(effort);
    },
    async search(query, limit) {
      const rows = await sql<{ id: number }[]>`
        SELECT id FROM ${sql(TABLE)} ORDER BY embedding <=> ${text(query)}::vector LIMIT ${limit}`;
      return rows.map(({ id }) => id);
    },
    async close() {
      await sql.unsafe(`DROP TABLE IF EXISTS ${TABLE}`);
      await sql.end();
    },
  };
}
