import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { startApi } from "../../support/api/api.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { jsonLines } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";
import { untilLooked } from "./support.ts";

const api = await startApi();
const dataDir = temporaryFolder("query");
const env = { DATABASE_URL: api.databaseUrl, BASE_URL: api.url, DATA_DIR: dataDir };
const caller = (key: string) => ({ userId: "", headers: { "x-api-key": key } });
const run = (...args: string[]) => callCommand(args, { env });
const HANDBOOK = ["--project", "handbook"];
await run("import", "--markdown", "fixtures/docs", ...HANDBOOK);
const first = await run("search", "index snapshots", ...HANDBOOK);

describe("commands end when searches see what they have changed", () => {
  test("the first search after an import finds the imported files", async () => {
    expect([first.status, first.stderr]).toEqual([0, ""]);
    expect(first.stdout).toContain("operations/snapshots.md#");
  });

  test("a search after a release, an activation and a removal sees each of them", async () => {
    const project = ["--project", "seen"];
    await run("import", "--markdown", "fixtures/docs/operations", ...project);
    await run("releases", "create", "v1", ...project);
    const removed = ["files", "remove", "snapshots.md", "--yes", ...project];
    expect((await run(...removed)).status).toBe(0);
    const paths = async (...target: string[]) =>
      (await run("lookup", "snapshots", "--limit", "10", ...project, ...target)).stdout;
    expect(await paths()).not.toContain("snapshots.md");
    expect(await paths("--release", "v1")).toContain("snapshots.md");
    await run("environments", "activate", "production", "v1", ...project);
    expect(await paths()).toContain("snapshots.md");
  });

  test("a command waits for a server that is behind, and not with --no-wait", async () => {
    await run("import", "--markdown", "fixtures/docs/concepts", "--project", "awaited");
    const remove = (path: string, ...options: string[]) =>
      run("files", "remove", path, "--yes", "--project", "awaited", ...options);
    const server = crypto.randomUUID();
    await api.sql`INSERT INTO index_nodes (id, seq) VALUES (${server}, 0)`;
    expect((await remove("releases.md", "--no-wait")).status).toBe(0);
    let ended = false;
    const waiting = remove("projects.md").finally(() => {
      ended = true;
    });
    const gone = async () =>
      (
        await api.sql`SELECT FROM audit_log WHERE action = 'files.removed'
        AND details::text LIKE '%projects.md%'`
      ).length > 0;
    await until("the file is removed", gone);
    await untilLooked(api.sql);
    expect(ended).toBe(false);
    await api.sql`DELETE FROM index_nodes WHERE id = ${server}`;
    expect((await waiting).status).toBe(0);
  });
});

describe("search and lookup from the terminal", () => {
  test("print a table of what the service finds, without a key of one's own", async () => {
    const found = await run("search", "index snapshots", ...HANDBOOK);
    expect(found.status, found.stderr).toBe(0);
    const [header, best] = found.stdout.split("\n");
    expect(header).toMatch(/^score +chunk +content/);
    expect(best).toContain("operations/snapshots.md#");
    expect(best).not.toContain(" weak ");
    const weak = await run("search", "xyzzyqq", ...HANDBOOK);
    for (const line of weak.stdout.trimEnd().split("\n").slice(1)) {
      expect(line).toMatch(/^0\.\d{4} weak /);
    }
    const looked = await run("lookup", "rollback a relese", ...HANDBOOK, "--limit", "2");
    expect(looked.status, looked.stderr).toBe(0);
    expect(looked.stdout.trim().split("\n")).toHaveLength(3);
    expect(looked.stdout).toContain("concepts/releases.md");
  });

  test("print JSON lines, in an environment or a release", async () => {
    await run("releases", "create", "v1", ...HANDBOOK);
    const { stdout } = await run("search", "snapshots", ...HANDBOOK, "--release", "v1", "--json");
    const hits = jsonLines(stdout);
    expect(hits[0]).toMatchObject({
      match_type: "hybrid",
      chunk: { file_path: expect.any(String) },
    });
    const items = await run("lookup", "snapshots", ...HANDBOOK, "--release", "v1", "--json");
    expect(JSON.parse(items.stdout.split("\n")[0] as string).path).toBe("operations/snapshots.md");
  });

  test("use the key that is given, and say what the service answers", async () => {
    const stranger = await api.key(await api.user());
    const refused = await run("lookup", "x", ...HANDBOOK, "--key", stranger.key);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("No such project is visible to this caller.");
    const fromEnvironment = await callCommand(["lookup", "x", ...HANDBOOK], {
      env: { ...env, TESSERA_API_KEY: stranger.key },
    });
    expect(fromEnvironment.status).toBe(1);
    const nothing = await run("lookup", "qqqqxyzzy", ...HANDBOOK);
    expect(nothing).toMatchObject({ status: 0, stdout: "", stderr: "tessera: nothing found\n" });
  });

  test("show results one below the other on a terminal of any width, with what matches in colour", async () => {
    for (const columns of [40, 100]) {
      const args = ["lookup", "frozen releases", ...HANDBOOK, "--limit", "2"];
      const { status, stdout } = await callCommand(args, { env, columns });
      expect(status).toBe(0);
      const lines = stdout.split("\n");
      const passage = lines.filter((line) => line.startsWith("   "));
      expect(passage.length).toBeGreaterThan(1);
      for (const line of passage) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
      expect(stdout).toMatch(/\x1b\[33mrelease/i);
      const colourless = await run("lookup", "frozen releases", ...HANDBOOK);
      expect(colourless.stdout).not.toContain("\x1b");
    }
    // A pseudo-terminal that was not told its width has 0 columns.
    const lookup = ["lookup", "frozen releases", ...HANDBOOK];
    const { stdout } = await callCommand(lookup, { env, columns: 80 });
    for (const columns of [0, 1, 20]) {
      expect((await callCommand(lookup, { env, columns })).stdout).toBe(stdout);
    }
    const searched = await callCommand(["search", "index snapshots", ...HANDBOOK], {
      env,
      columns: 80,
    });
    expect(searched.stdout).toMatch(/\x1b\[1moperations\/snapshots\.md#\d+\x1b/);
    expect(searched.stdout).toMatch(/\x1b\[33msnapshot/i);
  });

  test("find what a filter matches, and name the place of its fault", async () => {
    const project = [...HANDBOOK, "--json"];
    for (const command of ["lookup", "search"]) {
      const pathsOf = async (filter: string) => {
        const { stdout, stderr } = await run(command, "releases", ...project, "--filter", filter);
        expect(stderr).not.toContain("error");
        const lines = jsonLines(stdout);
        return new Set(lines.map(({ path, chunk }) => path ?? chunk.file_path));
      };
      const path = "concepts/releases.md";
      expect(await pathsOf(JSON.stringify({ path }))).toEqual(new Set([path]));
      expect(await pathsOf(JSON.stringify({ path: { $ne: path } }))).not.toContain(path);
      for (const [filter, fault] of [
        ['{"path": {"$like": "a"}}', "filter.path.$like is not an operator"],
        ["path", "It must be JSON"],
      ] as const) {
        const refused = await run(command, "x", ...project, "--filter", filter);
        expect(refused).toMatchObject({ status: 2, stdout: "" });
        expect(refused.stderr).toContain(fault);
      }
    }
  });

  test("name the limit, and leave one entry in the audit log for all searches of a month, and one for each revoked key", async () => {
    const tooMany = await run("lookup", "x", ...HANDBOOK, "--limit", "13");
    expect(tooMany).toMatchObject({ status: 2, stdout: "" });
    expect(tooMany.stderr).toMatch(/--limit .* between 1 and 12\./);
    const entries = async () =>
      (await api.sql`SELECT action FROM audit_log WHERE action LIKE 'key.%' ORDER BY id`).map(
        (row) => row["action"],
      );
    const kept = join(dataDir, "command-keys.json");
    rmSync(kept, { force: true });
    const before = await entries();
    await run("lookup", "x", ...HANDBOOK);
    await run("search", "x", ...HANDBOOK);
    const unknown = await run("lookup", "x", ...HANDBOOK, "--release", "none");
    expect(unknown.status).toBe(1);
    expect((await entries()).slice(before.length)).toEqual(["key.created"]);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    const [entry] = Object.values(JSON.parse(readFileSync(kept, "utf8"))) as [{ key: string }];
    const { stdout } = await run("keys", "list", ...HANDBOOK, "--json");
    const made = stdout.split("\n").find((line) => line.includes(entry.key.slice(0, 16))) as string;
    expect(JSON.parse(made).scopes).toEqual(["search.query", "knowledge.lookup"]);

    await run("keys", "revoke", entry.key, "--yes");
    await until(
      "the revoked key is refused",
      async () => (await api.get("/projects/handbook", caller(entry.key))).status === 401,
    );
    expect((await run("lookup", "import", ...HANDBOOK)).status).toBe(0);
    expect((await entries()).slice(before.length)).toEqual([
      ...["key.created", "key.revoked", "key.created"],
    ]);
  });

  test("say so when the service does not know the keys of this database, and make no further ones", async () => {
    using stranger = Bun.serve({
      port: 0,
      fetch: () => Response.json({ slug: "unauthorized", detail: "no" }, { status: 401 }),
    });
    const url = `http://127.0.0.1:${stranger.port}`;
    const ask = () => run("lookup", "x", ...HANDBOOK, "--url", url);
    expect((await ask()).status).toBe(1);
    const keys = async () => (await api.sql`SELECT FROM api_keys`).length;
    const before = await keys();
    const again = await ask();
    expect(again.stderr).toContain("refuses a key of this database");
    expect(await keys()).toBe(before);
  });

  test("say what the best score is when nothing reaches the threshold, and refuse another embedder", async () => {
    const search = ["search", "index snapshots", ...HANDBOOK, "--mode", "semantic"];
    const nothing = await run(...search, "--threshold", "0.99");
    expect(nothing).toMatchObject({ status: 0, stdout: "" });
    const best =
      /the best score is (0\.\d+), below the threshold of 0\.99: try --threshold (0\.\d+)/.exec(
        nothing.stderr,
      );
    const found = await run(...search, "--threshold", best?.[2] as string);
    expect(found.stdout).toContain(best?.[1] as string);
    const elsewhere = await run(...search, "--embed-dimension", "1024");
    expect(elsewhere.status).toBe(1);
    expect(elsewhere.stderr).toContain("hashing:feature-hashing-1:768");
    expect(elsewhere.stderr).toContain("1024");
  });
});

const CONCEPTS = ["--markdown", "fixtures/docs/concepts"];

describe("an import of Markdown", () => {
  test("ends with a query of a new project that works as it is printed, and makes no key", async () => {
    const first = await run("import", ...CONCEPTS, "--project", "plain");
    expect(first.status, first.stderr).toBe(0);
    const command = /^ {2}\.\/tessera (lookup .*)$/m.exec(first.stderr)?.[1];
    expect(command).toBe('lookup "your words" --project plain');
    expect(first.stderr).toContain("keys create --user owner@localhost");
    expect(first.stderr).not.toContain("tsr_");
    expect((await run("keys", "list", "--project", "plain", "--all", "--json")).stdout).toBe("");
    const again = await run("import", ...CONCEPTS, "--project", "plain");
    expect(again.stderr).not.toContain("--project plain");
  });

  test("prints a key that reaches only its project for 30 days, and a request that works with it, each time --key asks for one", async () => {
    const result = await run("import", ...CONCEPTS, "--project", "own", "--key");
    expect(result.status, result.stderr).toBe(0);
    const key = /shown only once: (\S+)/.exec(result.stderr)?.[1] as string;
    const curl = /^ {2}(curl .*)$/m.exec(result.stderr)?.[1]?.replace("your words", "releases");
    const ask = async () =>
      JSON.parse(await Bun.spawn(["sh", "-c", curl as string]).stdout.text()).data;
    await until("the printed request finds something", async () => (await ask()).length > 0);
    expect((await api.get("/projects/own", caller(key))).status).toBe(200);
    expect((await api.get("/projects/handbook", caller(key))).status).toBe(404);
    const ended = Date.now() + 30 * 86_400_000;
    const again = await run("import", ...CONCEPTS, "--project", "own", "--key");
    const other = /shown only once: (\S+)/.exec(again.stderr)?.[1] as string;
    expect(other).not.toBe(key);
    expect((await api.get("/projects/own", caller(other))).status).toBe(200);
    const listed = await run("keys", "list", "--project", "own", "--json");
    const keys = jsonLines(listed.stdout);
    expect(keys).toHaveLength(2);
    for (const { user, expires_at } of keys) {
      expect(user).toBe("owner@localhost");
      expect(Math.abs(Date.parse(expires_at) - ended)).toBeLessThan(3_600_000);
    }
  });
});
