import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/ops/config/load.ts";
import { serve } from "../../src/serve.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { createEmptyDatabase } from "../../support/processes/postgres.ts";
import { environment, PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

/** Starts the service, and returns what it prints for somebody without a key. */
async function start(env: Readonly<Record<string, string>>) {
  const { greeting, baseUrl, stop } = await serve(
    loadConfig(environment({ ...env, LOG_LEVEL: "fatal" })),
  );
  return { url: baseUrl, printed: greeting, stop: onCleanup(stop) };
}

/** Runs a printed command in a shell until the search has results. */
async function hitsOf(line: string): Promise<{ score: number }[]> {
  let hits: { score: number }[] = [];
  await until("the search has results", async () => {
    const shell = Bun.spawn(["sh", "-c", line], { cwd: PROJECT_ROOT, stderr: "ignore" });
    hits = JSON.parse(await new Response(shell.stdout).text()).data ?? [];
    return hits.length > 0;
  });
  return hits;
}

test("the first start with a demo prints once a key of the owner, who creates projects and sees those that are imported, and a curl command that finds something", async () => {
  const { url: DATABASE_URL } = await createEmptyDatabase();
  // A shell would split this name if it were not quoted.
  const env = { DATABASE_URL, DATA_DIR: mkdtempSync(join(dataFolder(), "it's a ")) };
  const without = await start({ ...env, DEMO: "off" });
  expect(without.printed).toContain("keys create --user you@example.com --name first");
  expect(without.printed).not.toContain("tsr_");
  await without.stop();

  const server = await start({ ...env, DEMO: "on" });
  const key = server.printed.match(/tsr_[0-9A-Za-z]+_[0-9A-Za-z]+/)?.[0] ?? "";
  const line = server.printed.match(/^ {2}(curl .*)$/m)?.[1] ?? "";
  expect(line).toContain(key);
  const hits = await hitsOf(line);
  expect(hits).toHaveLength(3);
  expect(hits[0]?.score).toBeGreaterThanOrEqual(0.7);
  expect(server.printed).toMatch(/for your projects: .*, until \d{4}-\d\d-\d\d/);

  const folder = ["--markdown", "fixtures/docs/concepts", "--project", "imported"];
  const added = await callCommand(["import", ...folder], { env });
  expect(added.status, added.stderr).toBe(0);
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const created = await fetch(`${server.url}/projects`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "Created", slug: "created" }),
  });
  expect(created.status).toBe(201);
  const projects = await fetch(`${server.url}/projects`, { headers });
  const { data } = (await projects.json()) as { data: { slug: string }[] };
  expect(data.map(({ slug }) => slug)).toEqual(["created", "demo", "imported"]);
  await server.stop();

  const again = await start({ ...env, DEMO: "on" });
  expect(again.printed).toBe("");
  const still = await fetch(`${again.url}/projects/demo/chunks?limit=1`, { headers });
  expect(still.status).toBe(200);
});
