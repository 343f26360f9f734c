/**
 * A long-running service: thousands of changes, each followed by lookups, and the memory of the
 * process after every tenth of them. The first tenth is the baseline.
 *
 * usage: bun bench/knowledge/changes.ts [CHANGES] [FILES]
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { BenchServer } from "../search/server.ts";
import { writeFiles, writeProject, writeUser } from "./world.ts";

const changes = Number(process.argv[2] ?? 5_000);
const files = Number(process.argv[3] ?? 500);
const MEBIBYTE = 2 ** 20;
const PARAGRAPH = "Some words of a paragraph that is as long as they are in life. ".repeat(20);

const dataDir = mkdtempSync(join(tmpdir(), "tessera-bench-"));
// When this process is root, PostgreSQL runs as another account and must reach the folder.
chmodSync(dataDir, 0o711);
const database = await openEmbeddedDatabase({ dataDir, log: () => {} });
const sql = openDatabase(database.url, { statementTimeoutMs: 0 });
let server: BenchServer | undefined;
try {
  await migrate(sql);
  const { userId, apiKey } = await writeUser(sql);
  const project = await writeProject(sql, userId, "long");
  server = await BenchServer.start(dataDir);
  const url = new URL(project.lookupPath, server.url);
  const look = async (body: object) => {
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as { total_matches: number };
  };
  const write = (number: number) => {
    const text = `# Change ${number}\n\n${PARAGRAPH} word${number}\n`;
    return writeFiles(sql, project, [{ path: `f${number % files}.md`, text }]);
  };
  for (let i = 0; i < files; i++) await write(i);
  await look({});

  const rows: object[] = [];
  let first = 0;
  for (let i = 1; i <= changes; i++) {
    await write(files + i);
    await look({ query: `paragraph ${i % 7}` });
    if (i % 10 === 0) await look({});
    if (i % Math.ceil(changes / 10) !== 0) continue;
    while ((await look({ query: `word${files + i}` })).total_matches === 0) await Bun.sleep(10);
    const rss = server.rssBytes() / MEBIBYTE;
    first ||= rss;
    const index = (await server.metric("tessera_index_memory_bytes")) / MEBIBYTE;
    rows.push({
      changes: i,
      "anonymous memory MiB": rss.toFixed(0),
      ratio: (rss / first).toFixed(2),
      "index MiB": index.toFixed(1),
    });
    console.log(JSON.stringify(rows.at(-1)));
  }
  console.table(rows);
} finally {
  await server?.stop();
  await sql.end();
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
