/**
 * Throughput of the plain reads against a bare handler that runs the same SQL, side by side:
 * `bun bench/rest/run.ts [seconds of one round] [rounds]`. Rounds alternate between the two, so
 * that noise of the machine meets both; the ratio is the median of the rounds' ratios.
 */

import { cleanUp, onCleanup } from "../../support/cleanup.ts";
import { addConversation, addMessages } from "../../support/content.ts";
import { PROJECT_ROOT } from "../../support/process.ts";
import { startApiProcess } from "../../test/support/api.ts";
import { type Load, load, type Target } from "./load.ts";

const CONNECTIONS = 16;
const TREE_MESSAGES = 1_000;
/** Characters of text in a message, about what a long paragraph has. */
const MESSAGE_CHARS = 300;
const WARM_UP_MAX_MS = 1_000;
const [seconds = 2, rounds = 5] = process.argv.slice(2).map(Number);

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function startBare(
  databaseUrl: string,
  userId: string,
): Promise<{ url: string; pid: number }> {
  const program = Bun.spawn([process.execPath, "bench/rest/bare.ts", databaseUrl, userId], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(() => program.kill());
  for await (const bytes of program.stdout) {
    const url = /listening on (\S+)/.exec(new TextDecoder().decode(bytes))?.[1];
    if (url !== undefined) return { url, pid: program.pid };
  }
  throw new Error("the baseline did not start");
}

async function compare(name: string, ours: Target, bare: Target): Promise<void> {
  const milliseconds = seconds * 1_000;
  const warmUp = Math.min(milliseconds, WARM_UP_MAX_MS);
  for (const target of [ours, bare]) await load(target, CONNECTIONS, warmUp);
  const pairs: Array<[Load, Load]> = [];
  for (let round = 0; round < rounds; round++) {
    const first = await load(round % 2 === 0 ? ours : bare, CONNECTIONS, milliseconds);
    const second = await load(round % 2 === 0 ? bare : ours, CONNECTIONS, milliseconds);
    pairs.push(round % 2 === 0 ? [first, second] : [second, first]);
  }
  const ratio = median(pairs.map(([a, b]) => a.requestsPerSecond / b.requestsPerSecond));
  const rate = (side: 0 | 1) =>
    Math.round(median(pairs.map((pair) => pair[side].requestsPerSecond)));
  const cpu = (side: 0 | 1) =>
    Math.round(median(pairs.map((pair) => pair[side].serverMicroseconds)));
  process.stdout.write(
    `| ${name} | ${rate(0)} | ${rate(1)} | **${ratio.toFixed(2)}** | ${cpu(0)} | ${cpu(1)} |\n`,
  );
}

try {
  const api = await startApiProcess();
  const user = await api.user();
  const project = await api.project(user);
  const conversation = await addConversation(api.sql, user, project);
  const ids = await addMessages(api.sql, conversation, TREE_MESSAGES);
  const text = "lorem ipsum ".repeat(MESSAGE_CHARS / 12);
  await api.sql`
    UPDATE messages SET parts = ${api.sql.json([{ type: "text", text }])}
    WHERE conversation_id = ${conversation}`;
  await api.sql`VACUUM ANALYZE`;
  const { headers } = await api.key(user);
  const bare = await startBare(api.databaseUrl, user.userId);

  const reads = {
    conversation: `/conversations/${conversation}`,
    message: `/conversations/${conversation}/messages/${ids[500]}`,
    "tree of 1,000": `/conversations/${conversation}/tree`,
  };
  process.stdout.write(
    `${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s each\n\n` +
      "| GET | requests/s | bare handler, same SQL | ratio | server CPU us | bare CPU us |\n" +
      "|---|--:|--:|--:|--:|--:|\n",
  );
  for (const [name, path] of Object.entries(reads)) {
    const ours: Target = { url: api.url, pid: api.server.pid, path, headers };
    await compare(name, ours, { ...bare, path, headers: {} });
  }
} finally {
  await cleanUp();
}
