/**
 * Memory of a long-lived service: thousands of changes, each followed by lookups.
 *
 *   bun bench/knowledge/changes.ts [--changes 5000] [--files 500]
 *
 * Prints the memory of the process after every tenth of the changes. The first tenth is the baseline.
 */
import { addApiKey, addUser } from "../../support/accounts.ts";
import { startDatabase } from "../../support/bench/database.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer } from "../../support/bench/server.ts";
import { mebibytes } from "../../support/bench/table.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { Client } from "./client.ts";
import { writeFiles, writeProject } from "./world.ts";

const { changes, files } = readOptions({ changes: 5_000, files: 500 });
const PARAGRAPH = "Some words of a paragraph that is as long as they are in life. ".repeat(20);

await runProgram(async () => {
  const { dataDir, sql } = await startDatabase();
  const userId = await addUser(sql);
  const { key } = await addApiKey(sql, userId);
  const project = await writeProject(sql, userId, "long");
  const server = await BenchServer.start({ DATA_DIR: dataDir });
  const client = new Client(server, key);
  const write = (number: number) => {
    const text = `# Change ${number}\n\n${PARAGRAPH} word${number}\n`;
    return writeFiles(sql, project, [{ path: `f${number % files}.md`, text }]);
  };
  for (let i = 0; i < files; i++) await write(i);
  await client.page(project, {});

  const rows: object[] = [];
  let first = 0;
  for (let i = 1; i <= changes; i++) {
    await write(files + i);
    await client.page(project, { query: `paragraph ${i % 7}` });
    if (i % 10 === 0) await client.page(project, {});
    if (i % Math.ceil(changes / 10) !== 0) continue;
    await client.until(project, { query: `word${files + i}` }, (page) => page.total_matches > 0);
    const bytes = server.anonymousBytes();
    first ||= bytes;
    rows.push({
      changes: i,
      "anonymous memory MiB": mebibytes(bytes),
      ratio: (bytes / first).toFixed(2),
      "of it index MiB": mebibytes(await server.metric("tessera_index_memory_bytes"), 1),
    });
    console.log(JSON.stringify(rows.at(-1)));
  }
  console.table(rows);
});
