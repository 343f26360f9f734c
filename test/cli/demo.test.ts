import { describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../../support/processes/embedded.ts";
import { PROJECT_ROOT, runCommand, startServer } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const KEY = /tsr_[0-9A-Za-z]+_[0-9A-Za-z]+/;

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

describe("the first start with an empty embedded database", () => {
  test("prints once a key of the owner, who creates projects and sees those that are imported, and a curl command that finds something", async () => {
    // A shell would split this name if it were not quoted.
    const env = { DEMO: "auto", DATA_DIR: mkdtempSync(join(dataFolder(), "it's a ")) };
    const server = await startServer({ env });
    await until("the demo is announced", () => server.logs().includes("DEMO=off"));
    const key = server.logs().match(KEY)?.[0] ?? "";
    const line = server.logs().match(/^ {2}(curl .*)$/m)?.[1] ?? "";
    expect(line).toContain(key);
    const hits = await hitsOf(line);
    expect(hits).toHaveLength(3);
    expect(hits[0]?.score).toBeGreaterThanOrEqual(0.7);

    const authorized = { headers: { "x-api-key": key } };
    const release = await fetch(`${server.url}/projects/demo/chunks?limit=1`, authorized);
    expect(release.status).toBe(200);
    expect(server.logs()).toMatch(/for your projects: .*, until \d{4}-\d\d-\d\d/);
    const folder = ["--markdown", "fixtures/docs/concepts", "--project", "imported"];
    const added = await runCommand(["import", ...folder], { env });
    expect(added.status, added.stderr).toBe(0);
    const created = await fetch(`${server.url}/projects`, {
      method: "POST",
      headers: { ...authorized.headers, "content-type": "application/json" },
      body: JSON.stringify({ name: "Created", slug: "created" }),
    });
    expect(created.status).toBe(201);
    const projects = await fetch(`${server.url}/projects`, authorized);
    const { data } = (await projects.json()) as { data: { slug: string }[] };
    expect(data.map(({ slug }) => slug)).toEqual(["created", "demo", "imported"]);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);

    const again = await startServer({ env });
    expect(again.logs()).not.toMatch(KEY);
    const still = await fetch(`${again.url}/projects/demo/chunks?limit=1`, authorized);
    expect(still.status).toBe(200);
    again.kill("SIGTERM");
    expect(await again.exited).toBe(0);

    const create = ["keys", "create", "--user", "owner@localhost", "--name", "x"];
    const alone = await runCommand(create, { env });
    expect(alone.status).toBe(0);
    expect(alone.stdout).toMatch(KEY);
  });

  test("creates nothing with DEMO=off", async () => {
    const server = await startServer({ env: { DEMO: "off" } });
    const env = { DATA_DIR: server.dataDir };
    const result = await runCommand(["index", "rebuild"], { env });
    expect(result.stdout).toBe("there are no projects, so there is nothing to rebuild\n");
    expect(server.logs()).not.toMatch(KEY);
    server.kill("SIGTERM");
    expect(await server.exited).toBe(0);
  });
});
