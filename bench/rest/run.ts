/**
 * Throughput of the plain reads compared with a bare handler that runs the same SQL.
 *
 *   bun bench/rest/run.ts [--seconds 2] [--rounds 5]
 *
 * Rounds of `--seconds` alternate between the two, so that noise of the machine affects both. The
 * ratio is the median over the rounds.
 */
import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addProject, addUser } from "../../support/accounts.ts";
import { addConversation, addMessages } from "../../support/content.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { measureInTurns, type Throughput, throughputRatio } from "../harness/load/turns.ts";
import { rawRequest } from "../harness/requests.ts";
import { median } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";

export const OPTIONS = { seconds: 2, rounds: 5 };
type Options = typeof OPTIONS;

const CONNECTIONS = 16;
const TREE_MESSAGES = 1_000;
/** Characters of text per message, about a long paragraph. */
const MESSAGE_CHARS = 300;

/** A conversation with messages, and its reader. */
async function writeWorld(sql: Sql) {
  const userId = await addUser(sql);
  const conversation = await addConversation(sql, { userId }, await addProject(sql, userId));
  const ids = await addMessages(sql, conversation, TREE_MESSAGES);
  const text = "lorem ipsum ".repeat(MESSAGE_CHARS / 12);
  await sql`
    UPDATE messages SET parts = ${sql.json([{ type: "text", text }])}
    WHERE conversation_id = ${conversation}`;
  await sql`VACUUM ANALYZE`;
  const headers = { "x-api-key": (await addApiKey(sql, userId)).key };
  const reads = {
    conversation: `/conversations/${conversation}`,
    message: `/conversations/${conversation}/messages/${ids[500]}`,
    "tree of 1,000": `/conversations/${conversation}/tree`,
  };
  return { userId, headers, reads };
}

/** The measurements of the service and of the bare handler, by round. */
interface Read {
  readonly name: string;
  readonly own: readonly Throughput[];
  readonly bare: readonly Throughput[];
}

function print(out: Output, { name, own, bare }: Read): void {
  const of = (field: keyof Throughput, runs: readonly Throughput[]) =>
    Math.round(median(runs.map((run) => run[field])));
  out.row(
    name,
    of("requestsPerSecond", own),
    of("requestsPerSecond", bare),
    `**${throughputRatio(own, bare).toFixed(2)}**`,
    of("serverMicroseconds", own),
    of("serverMicroseconds", bare),
  );
}

export async function run({ seconds, rounds }: Options, context: BenchContext): Promise<Read[]> {
  const { sql, url: databaseUrl } = await createTestDatabase();
  const { userId, headers, reads } = await writeWorld(sql);
  const service = await context.startServer({ DATABASE_URL: databaseUrl, LOG_LEVEL: "fatal" });
  const baseline = await context.startBaseline("bench/rest/bare.ts", databaseUrl, userId);
  const { out } = context;
  out.line(`${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each`);
  out.head("GET", "requests/s", "bare handler, same SQL", "ratio", "server CPU us", "bare CPU us");
  const measured: Read[] = [];
  for (const [name, path] of Object.entries(reads)) {
    const targets = [service, baseline].map((server) => {
      const request = rawRequest(server, "GET", path, headers);
      return { url: server.url, pid: server.pid, next: () => request };
    });
    const load = { connections: CONNECTIONS, seconds, rounds };
    const [own = [], bare = []] = await measureInTurns(targets, load);
    print(out, { name, own, bare });
    measured.push({ name, own, bare });
  }
  return measured;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
