/**
 * Memory of a long-lived service: thousands of changes, each followed by lookups.
 *
 *   bun bench/knowledge/changes.ts [--changes 5000] [--files 500]
 *
 * Prints the memory of the process after every tenth of the changes. The first tenth is the baseline.
 */
import { addApiKey, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { mebibytes } from "../harness/table.ts";
import { Client } from "./client.ts";
import { writeFiles, writeProject } from "./world.ts";

export const OPTIONS = { changes: 5_000, files: 500 };
type Options = typeof OPTIONS;

const PARAGRAPH = "Some words of a paragraph that is as long as they are in life. ".repeat(20);

interface Point {
  readonly changes: number;
  /** The files that lookups find. */
  readonly items: number;
  readonly anonymousBytes: number;
  readonly indexBytes: number;
}

const recordOf = ({ changes, anonymousBytes, indexBytes }: Point, first: Point) => ({
  changes,
  "anonymous memory MiB": mebibytes(anonymousBytes),
  ratio: (anonymousBytes / first.anonymousBytes).toFixed(2),
  "of it index MiB": mebibytes(indexBytes, 1),
});

export async function run({ changes, files }: Options, context: BenchContext): Promise<Point[]> {
  const { env, sql } = await context.openDatabase();
  const userId = await addUser(sql);
  const { key } = await addApiKey(sql, userId);
  const project = await writeProject(sql, userId, "long");
  const server = await context.startServer(env);
  const client = new Client(server, key);
  const write = (number: number) => {
    const text = `# Change ${number}\n\n${PARAGRAPH}\n`;
    return writeFiles(sql, project, [{ path: `f${number % files}.md`, text }]);
  };
  for (let i = 0; i < files; i++) await write(i);
  await client.until(project, {}, (page) => page.shard.total_items === files);

  const points: Point[] = [];
  for (let i = 1; i <= changes; i++) {
    await write(files + i);
    await client.page(project, { query: `paragraph ${i % 7}` });
    if (i % 10 === 0) await client.page(project, {});
    if (i % Math.ceil(changes / 10) !== 0) continue;
    // A number is found in the last change only: it is the highest, and digits are no typos of others.
    await client.until(project, { query: `${files + i}` }, (page) => page.total_matches > 0);
    const point = {
      changes: i,
      items: (await client.page(project, {})).shard.total_items,
      anonymousBytes: server.anonymousBytes(),
      indexBytes: await server.metric("tessera_index_memory_bytes"),
    };
    points.push(point);
    context.out.line(JSON.stringify(recordOf(point, points[0] as Point)));
  }
  context.out.frames(points.map((point) => recordOf(point, points[0] as Point)));
  return points;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
