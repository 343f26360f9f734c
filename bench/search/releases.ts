/**
 * What releases cost in memory: a project with one release of all files, then with a thousand more
 * that each leave out another twentieth of them.
 *
 *   bun bench/search/releases.ts [--chunks 20000] [--dimension 1536] [--releases 1000]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { BenchServer } from "./server.ts";
import { idOf, makeWorld, PROJECT_ID, writeWorld } from "./world.ts";

const { values: options } = parseArgs({
  options: {
    chunks: { type: "string", default: "20000" },
    dimension: { type: "string", default: "1536" },
    releases: { type: "string", default: "1000" },
  },
});
const SHARED = 0.95;
/** Settled means that the graph stands and the snapshot is written. */
const SETTLE_MS = 3_000;

interface Memory {
  readonly index: number;
  readonly process: number;
}

/** Starts from the snapshot, so that what building leaves behind does not count. */
async function measure(dataDir: string): Promise<Memory> {
  const building = await BenchServer.start(dataDir);
  await Bun.sleep(SETTLE_MS);
  await building.stop();
  const server = await BenchServer.start(dataDir);
  await Bun.sleep(SETTLE_MS);
  const index = await server.metric("tessera_index_memory_bytes");
  const memory = { index, process: server.rssBytes() };
  await server.stop();
  return memory;
}

const releases = Number(options.releases);
const dataDir = mkdtempSync(join(tmpdir(), "tessera-bench-"));
const world = makeWorld(Number(options.chunks), 1, Number(options.dimension));
const database = await openEmbeddedDatabase({ dataDir, log: () => {} });
const sql = openDatabase(database.url, { statementTimeoutMs: 0 });
try {
  await migrate(sql);
  await writeWorld(sql, world);
  const one = await measure(dataDir);
  const startedAt = performance.now();
  await sql`
    INSERT INTO releases (id, project_id, name)
    SELECT (${idOf(8, 0).slice(0, -12)} || lpad(to_hex(n), 12, '0'))::uuid, ${PROJECT_ID}, 'many-' || n
    FROM generate_series(1, ${releases}::int) n`;
  await sql`
    INSERT INTO release_files (project_id, release_id, file_id, file_version_id)
    SELECT r.project_id, r.id, v.file_id, v.id
    FROM releases r JOIN file_versions v ON v.project_id = r.project_id
    WHERE r.name LIKE 'many-%'
      AND (hashtextextended(r.id::text || v.id::text, 0) & 1023) < ${Math.round(SHARED * 1024)}`;
  const writing = (performance.now() - startedAt) / 1000;
  const many = await measure(dataDir);
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  const ratio = (of: (memory: Memory) => number) => (of(many) / of(one)).toFixed(3);
  const line = (...cells: string[]) => console.log(`| ${cells.join(" | ")} |`);
  console.log(`${world.chunks} chunks x ${world.dimension}, written in ${writing.toFixed(0)} s`);
  line("", "few releases", `${releases} more, each ${SHARED * 100}%`, "ratio");
  line("---", "--:", "--:", "--:");
  line(
    "index memory, MB",
    megabytes(one.index),
    megabytes(many.index),
    ratio((m) => m.index),
  );
  line(
    "anonymous memory of the process, MB",
    megabytes(one.process),
    megabytes(many.process),
    ratio((m) => m.process),
  );
} finally {
  await sql.end();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
