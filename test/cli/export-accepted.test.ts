import { expect, test } from "bun:test";
import fc from "fast-check";
import { startApi } from "../../support/api/api.ts";
import { addInputRequest } from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { callCommand } from "../../support/processes/command.ts";
import { SEED } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { jsonObject } from "../unit/domain/json/written-numbers.ts";
import { dump, openCli } from "./support.ts";

const SAMPLES = 2;
const api = await startApi();
const { sql } = api;
const owner = await api.user();
const editor = await api.user();

const sample = <T>(arbitrary: fc.Arbitrary<T>): T[] =>
  fc.sample(arbitrary, { numRuns: SAMPLES, seed: SEED | 0 });
/** Text of any characters but NUL: controls, other scripts, and what is no character. */
const text = fc
  .string({ unit: "binary", minLength: 1, maxLength: 12 })
  .map((value) => value.replaceAll("\0", "x"));
/** JSON that a table for text would refuse or change. */
const ODD_JSON = [
  '{"a":"\\u0000"}',
  '{ "a b" : [ 1 ,\n "c \\\\\\" d" ] }',
  '{"\\u0000":"\\ud83d","\\udc00":["🚀"]}',
  ...['"\\u0000"', "1234567890123456789", "[1e400,-0,1.10]", '{"b":1,"a":"\u2028\\u001f"}', "null"],
];

async function accepted(answer: Promise<{ status: number; text: string; body: unknown }>) {
  const { status, text: body, body: parsed } = await answer;
  expect(status, body).toBeLessThan(300);
  return parsed as Record<string, never>;
}

async function fillProject(name: string, description: string, content: string): Promise<string> {
  const slug = `p-${crypto.randomUUID()}`;
  const path = `/projects/${slug}`;
  await accepted(api.post("/projects", { name, slug, description, embedder: "hashing" }, owner));
  await accepted(api.send("PATCH", path, { as: owner, json: { name: `${name}.`, description } }));
  const member = `${path}/members/${editor.userId}`;
  await accepted(api.send("PUT", member, { as: owner, json: { role: "editor" } }));
  for (const file of ["a.md", "ü 🚀/b.txt"]) {
    const headers = { "content-type": file.endsWith(".md") ? "text/markdown" : "text/plain" };
    const body = `---\ntitle: "\\0"\n---\n# ${content}\n\n${content}`;
    const url = `${path}/files/${encodeURIComponent(file)}`;
    await accepted(api.send("PUT", url, { as: owner, body, headers }));
  }
  const release = { name, environment: "production" };
  await accepted(api.post(`${path}/releases`, release, owner));
  const change = { as: owner, json: { active_release: name } };
  await accepted(api.send("PATCH", `${path}/environments/production`, change));
  return slug;
}

async function fillConversations(
  slug: string,
  payloads: readonly string[],
  values: readonly string[],
) {
  const { id } = await accepted(api.get(`/projects/${slug}`, owner));
  const project = { id, slug } as never;
  // The creator of its conversations looks like an address.
  const webhook = await addWebhook(sql, project, { id: `deploys@${crypto.randomUUID()}` });
  for (const body of payloads) {
    const headers = { ...webhook.headers, "content-type": "application/json" };
    await accepted(api.send("POST", webhook.path, { body, headers }));
  }
  const plain = { ...webhook.headers, "content-type": "text/plain" };
  await accepted(api.send("POST", webhook.path, { body: "a\0b \u2028", headers: plain }));
  const conversation = await addConversation(sql, owner, project);
  for (const value of values) {
    const { path } = await addInputRequest(sql, conversation, {
      fields: [{ name: "v", type: "any" }],
    });
    const headers = { "content-type": "application/json" };
    await accepted(
      api.send("POST", path, { as: owner, body: `{"values":{"v":${value}}}`, headers }),
    );
  }
}

test("all that the API has accepted is exported, and imported into the same and into an empty database, with nothing changed", async () => {
  // A name has a visible character.
  const names = sample(text).map((name) => `${name}n`);
  const contents = sample(text);
  const documents = [...ODD_JSON, ...sample(jsonObject)];
  for (const [at, name] of names.entries()) {
    const slug = await fillProject(name, contents[at] as string, contents[at] as string);
    const own = documents.filter((_, i) => i % SAMPLES === at);
    await fillConversations(slug, own, own);
    await accepted(api.post("/api-keys", { name, scopes: ["search.query"] }, owner));
  }
  const run = (url: string, args: string[], stdin?: string) =>
    callCommand(args, { env: { DATABASE_URL: url }, ...(stdin === undefined ? {} : { stdin }) });
  const exported = async (url: string) => {
    const { status, stdout, stderr } = await run(url, ["export", "--credentials"]);
    expect(status, stderr).toBe(0);
    return stdout;
  };
  // Chunks get their embeddings after the files have been accepted.
  await until(
    "no file waits for its embedding",
    async () => (await sql`SELECT 1 FROM embedding_queue LIMIT 1`).length === 0,
  );
  const before = await dump(sql);
  const whole = await exported(api.databaseUrl);

  const again = await run(api.databaseUrl, ["import", "--strict", "-"], whole);
  expect([again.status, again.stdout], again.stderr).toEqual([
    0,
    expect.stringContaining("nothing changed"),
  ]);
  expect(await dump(sql)).toEqual(before);

  const empty = await openCli();
  const copied = await run(empty.database.url, ["import", "--strict", "-"], whole);
  expect(copied.status, copied.stderr).toBe(0);
  // Users, members and keys are in the order of their creation, which is that of the import.
  const timeless = (lines: string) =>
    lines
      .replace(/"(?:created|updated)_at":"[^"]*",?/g, "")
      .replace(/(?<="members":\[)[^\]]*/g, (members) =>
        (members.match(/\{[^}]*\}/g) ?? []).sort().join(),
      )
      .split("\n")
      .sort();
  expect(timeless(await exported(empty.database.url))).toEqual(timeless(whole));
});
