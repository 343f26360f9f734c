/**
 * Throughput of the plain reads compared with a bare handler that runs the same SQL.
 *
 *   bun bench/rest/run.ts [--seconds 2] [--rounds 5]
 *
 * Rounds of `--seconds` alternate between the two, so that noise of the machine affects both. The
 * ratio is the median over the rounds.
 */
import { addApiKey, addProject, addUser } from "../../support/accounts.ts";
import {
  getRequests,
  measureInTurns,
  type Throughput,
  throughputRatio,
} from "../../support/bench/load.ts";
import { readOptions } from "../../support/bench/options.ts";
import { BenchServer, startBaseline } from "../../support/bench/server.ts";
import { printHead, printRow } from "../../support/bench/table.ts";
import { addConversation, addMessages } from "../../support/content.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import { median } from "../../support/statistics.ts";

const { seconds, rounds } = readOptions({ seconds: 2, rounds: 5 });
const CONNECTIONS = 16;
const TREE_MESSAGES = 1_000;
/** Characters of text per message, about a long paragraph. */
const MESSAGE_CHARS = 300;

await runProgram(async () => {
  const { sql, url: databaseUrl } = await createTestDatabase();
  const userId = await addUser(sql);
  const conversation = await addConversation(sql, { userId }, await addProject(sql, userId));
  const ids = await addMessages(sql, conversation, TREE_MESSAGES);
  const text = "lorem ipsum ".repeat(MESSAGE_CHARS / 12);
  await sql`
    UPDATE messages SET parts = ${sql.json([{ type: "text", text }])}
    WHERE conversation_id = ${conversation}`;
  await sql`VACUUM ANALYZE`;
  const headers = { "x-api-key": (await addApiKey(sql, userId)).key };
  const service = await BenchServer.start({ DATABASE_URL: databaseUrl, LOG_LEVEL: "fatal" });
  const bare = await startBaseline("bench/rest/bare.ts", databaseUrl, userId);

  const reads = {
    conversation: `/conversations/${conversation}`,
    message: `/conversations/${conversation}/messages/${ids[500]}`,
    "tree of 1,000": `/conversations/${conversation}/tree`,
  };
  console.log(`${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each`);
  printHead("GET", "requests/s", "bare handler, same SQL", "ratio", "server CPU us", "bare CPU us");
  for (const [name, path] of Object.entries(reads)) {
    const targets = [
      { url: service.url.href, pid: service.pid, next: getRequests(path, headers) },
      { ...bare, next: getRequests(path) },
    ];
    const [own = [], baseline = []] = await measureInTurns(targets, {
      connections: CONNECTIONS,
      seconds,
      rounds,
    });
    const of = (field: keyof Throughput, runs: Throughput[]) =>
      Math.round(median(runs.map((run) => run[field])));
    printRow(
      name,
      of("requestsPerSecond", own),
      of("requestsPerSecond", baseline),
      `**${throughputRatio(own, baseline).toFixed(2)}**`,
      of("serverMicroseconds", own),
      of("serverMicroseconds", baseline),
    );
  }
});
