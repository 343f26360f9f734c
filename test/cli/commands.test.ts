import { beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseKey } from "../../src/auth/key-format.ts";
import { callCommand } from "../../support/processes/command.ts";
import { PROJECT_ROOT, runCommand } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";
import { commandNames, dump, FRAME, openCli, type TestCli, untilLooked } from "./support.ts";

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

describe("the command line", () => {
  test("prints the section of the page of commands as the help of every command, with examples", async () => {
    const page = readFileSync(join(PROJECT_ROOT, "docs/commands.md"), "utf8");
    const names = await commandNames();
    const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, name]) => name);
    expect(sections.sort() as string[]).toEqual(names.toSorted());
    for (const command of names) {
      const result = await cli.run([...command.split(" "), "--help"]);
      expect(result, command).toMatchObject({ status: 0, stderr: "" });
      expect(result.stdout).toContain(`Usage: tessera ${command}`);
      expect(result.stdout, command).toMatch(/Examples?:\n {2}\S/);
    }
  });

  const PRINTING = [
    ["keys", "create", "--user", "ada@example.com", "--name", "x"],
    ...[["projects", "list"], ["projects", "map"], ["keys", "list"], ["audit"], ["export"]],
    ...[
      ["members", "list", "--project", "docs"],
      ["releases", "list", "--project", "docs"],
    ],
    ...[
      ["environments", "list", "--project", "docs"],
      ["files", "list", "--project", "docs"],
    ],
    ...[["index", "status"], ["embed", "words"], ["bench"], ["migrate"], ["doctor"]],
    ["import", "-"],
  ];

  test("every command ends quietly with the status of SIGPIPE when its reader has gone, and says so when a disk is full", async () => {
    const content = { project: "docs", environments: ["production"], path: "a.md", content: "A" };
    const release = { record: "release", project: "docs", name: "v1", environment: "production" };
    expect((await cli.import([...FRAME, { record: "file", ...content }, release])).status).toBe(0);
    const env = { DATABASE_URL: cli.database.url };
    for (const command of [["--help"], ...PRINTING]) {
      const gone = await callCommand(command, { env, brokenBy: "EPIPE" });
      expect(gone, command.join(" ")).toMatchObject({ status: 141 });
      expect(gone.stderr, command.join(" ")).not.toMatch(/EPIPE|Error|does not answer|written/);
    }
    const full = await callCommand(["projects", "list"], { env, brokenBy: "ENOSPC" });
    expect(full).toMatchObject({
      status: 1,
      stderr: "tessera: the output cannot be written: no\n",
    });
  });

  test("ends quietly behind a pipe whose reader has gone", async () => {
    const script = `(sleep 0.2; exec ./tessera --help) | true; echo "\${PIPESTATUS[0]}"`;
    const shell = Bun.spawn(["bash", "-c", script], {
      cwd: PROJECT_ROOT,
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await shell.stdout.text()).toBe("141\n");
    expect(await shell.stderr.text()).toBe("");
  });

  test("does the same as a process of its own", async () => {
    for (const args of [["index", "--help"], ["index"]]) {
      expect(await runCommand(args)).toEqual(await cli.run(args));
    }
  });

  test("exits with status 2 and a message after wrong usage, without changes", async () => {
    const before = await dump(cli.sql);
    const wrong = [
      [],
      ["nonsense"],
      ["migrate", "--nonsense"],
      ["migrate", "unexpected"],
      ["keys"],
      ["keys", "create"],
      ["keys", "create", "--user", "ada@example.com"],
      ["keys", "create", "--user", "nobody", "--name", "x"],
      ["keys", "create", "--user", "ada@example.com", "--name", ""],
      ["keys", "create", "--user", "a@b.c", "--name", "x", "--expires-at", "tomorrow"],
      ["keys", "create", "--user", "a@b.c", "--name", "x", "--expires-at", "2001-01-01T00:00:00Z"],
      ["index"],
      ["import"],
      ["import", "-", "-"],
      ["import", "--project", "x", "a.ndjson"],
      ["import", "--markdown", "docs"],
      ["import", "--markdown", "docs", "--project", "x", "a.ndjson"],
      ["import", "--markdown", "docs", "--project", "x", "--embed-url", "http://localhost"],
      [
        "import",
        "--markdown",
        "docs",
        "--project",
        "x",
        "--embed-url",
        "ftp://x",
        "--embed-model",
        "m",
      ],
      ["embed"],
      ["embed", "text", "--limit", "1000"],
      ["embed", "text", "--threshold", "x"],
    ];
    for (const args of wrong) {
      const result = await cli.run(args);
      expect(result, args.join(" ")).toMatchObject({ status: 2, stdout: "" });
      expect(result.stderr, args.join(" ")).not.toBe("");
    }
    expect(await dump(cli.sql)).toEqual(before);
  });

  test("exits with status 1 and names all configuration errors, or an unreachable database", async () => {
    const faulty = await callCommand(["migrate"], { env: { PORT: "x", LOG_LEVEL: "loud" } });
    expect(faulty).toMatchObject({ status: 1, stdout: "" });
    expect(faulty.stderr).toContain("PORT must be");
    expect(faulty.stderr).toContain("LOG_LEVEL must be");
    const away = await callCommand(["migrate"], {
      env: { DATABASE_URL: "postgres://user:hidden@127.0.0.1:1/x" },
    });
    expect(away.status).toBe(1);
    expect(away.stderr).toContain("check that PostgreSQL runs");
    expect(away.stderr).not.toContain("hidden");
  });
});

describe("keys create", () => {
  const create = (...options: string[]) =>
    cli.run(["keys", "create", "--user", "new@example.com", "--name", "laptop", ...options]);

  test("prints a valid key alone on the last line, and creates an unknown user", async () => {
    const result = await create();
    expect(result.status).toBe(0);
    expect(result.stderr).toContain("tessera: created the user new@example.com\n");
    const key = result.stdout.trimEnd().split("\n").at(-1) ?? "";
    const parsed = parseKey(key);
    expect(parsed).toBeDefined();
    const [row] =
      await cli.sql`SELECT k.*, u.email FROM api_keys k JOIN users u ON u.id = k.user_id`;
    expect(row).toMatchObject({
      email: "new@example.com",
      name: "laptop",
      key_prefix: parsed?.keyPrefix,
      project_id: null,
      scopes: [],
      expires_at: null,
    });
    expect(Buffer.from(row?.["key_hash"]).equals(Buffer.from(parsed?.hash ?? []))).toBe(true);
    expect(JSON.stringify(await dump(cli.sql))).not.toContain(key);
    expect((await create()).stderr).not.toContain("created");
  });

  test("restricts a key to a project, scopes and an expiry", async () => {
    await cli.import(FRAME);
    const result = await cli.run([
      ...["keys", "create", "--user", "ADA@example.com", "--name", "ci", "--project", "docs"],
      ...["--scope", "search.query", "--scope", "account.billing.manage"],
      ...["--expires-at", "2090-01-01T00:00:00Z"],
    ]);
    expect(result.status, result.stderr).toBe(0);
    const [row] = await cli.sql`
      SELECT scopes, expires_at, p.slug FROM api_keys k JOIN projects p ON p.id = k.project_id`;
    expect(row).toEqual({
      scopes: ["search.query", "account.billing.manage"],
      expires_at: new Date("2090-01-01T00:00:00Z"),
      slug: "docs",
    });
  });

  test("refuses a mistyped scope, and an address that resembles a known one", async () => {
    await cli.import(FRAME);
    const before = await dump(cli.sql);
    const scope = await create("--scope", "serach.query");
    expect(scope).toMatchObject({ status: 1, stdout: "" });
    expect(scope.stderr).toContain("did you mean search.query?");
    const typo = ["keys", "create", "--user", "dda@example.com", "--name", "x"];
    const address = await cli.run(typo);
    expect(address).toMatchObject({ status: 1, stdout: "" });
    expect(address.stderr).toContain("did you mean ada@example.com?");
    expect(await dump(cli.sql)).toEqual(before);
    expect((await cli.run([...typo, "--create"])).status).toBe(0);
  });

  test("makes a user who is not a member of the project a member of it, and says so", async () => {
    await cli.import(FRAME);
    const result = await create("--project", "docs");
    expect(result.status).toBe(0);
    expect(result.stderr).toContain("new@example.com is now a member of docs");
    const roles =
      async () => cli.sql`SELECT m.role FROM memberships m JOIN users u ON u.id = user_id
      WHERE email = 'new@example.com'`;
    expect(await roles()).toMatchObject([{ role: "member" }]);
    // An existing role stays, and no key is made as if it did not.
    const other = await create("--project", "docs", "--role", "owner");
    expect(other).toMatchObject({ status: 1, stdout: "" });
    expect(other.stderr).toContain("members add new@example.com --project docs --role owner");
    expect((await create("--project", "docs", "--role", "member")).status).toBe(0);
    expect((await create("--role", "member")).status).toBe(2);
    expect(await roles()).toMatchObject([{ role: "member" }]);
    expect((await create("--project", "docs", "--role", "onwer")).status).toBe(2);
  });

  test("creates nothing for a project that does not exist", async () => {
    const result = await create("--project", "nope");
    expect(result).toMatchObject({ status: 1, stdout: "" });
    expect(result.stderr).toBe('tessera: there is no project "nope"\n');
    const [row] = await cli.sql`SELECT count(*)::integer AS count FROM users`;
    expect(row?.["count"]).toBe(0);
  });
});

describe("index", () => {
  test("status shows what servers report, and the number of pending changes", async () => {
    const nothing = await cli.run(["index", "status"]);
    expect(nothing.stdout).toBe("change log: at 0\nno running server reports an index\n");
    await cli.import([
      ...FRAME,
      { record: "file", project: "docs", path: "a.md", environments: ["production"] },
    ]);
    await cli.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes)
      SELECT gen_random_uuid(), id, 768, 0, 120, 100, 4096 FROM projects`;
    const { status, stdout } = await cli.run(["index", "status"]);
    expect(status).toBe(0);
    const [change, header, row] = stdout.split("\n");
    expect(change).toStartWith("change log: at 1, ");
    const cells = row?.split(/ {2,}/) ?? [];
    const names = header?.split(/ {2,}/).map((name) => name.trim()) ?? [];
    const shown = Object.fromEntries(names.map((name, i) => [name, cells[i]]));
    expect(shown).toMatchObject({
      project: "docs",
      dimension: "768",
      vectors: "120",
      pending: "1",
      complete: "no",
      recall: "-",
      samples: "-",
    });
    await cli.sql`UPDATE index_state SET recall = 0.99328, recall_samples = 64`;
    const measured = await cli.run(["index", "status"]);
    expect(measured.stdout).toMatch(/ {2}0\.9933 +64 +\d+ s ago/);
  });

  test("status shows the documents of a project without vectors", async () => {
    await cli.import(FRAME);
    await cli.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, documents,
        memory_bytes)
      SELECT gen_random_uuid(), id, 0, 0, 0, 0, 1200, 4096 FROM projects`;
    const { stdout } = await cli.run(["index", "status"]);
    expect(stdout).toMatch(/ docs +text +- +- +1200 /);
  });

  test("status --wait ends when the indexes of the project are complete", async () => {
    await cli.import([
      ...FRAME,
      { record: "file", project: "docs", path: "a.md", environments: ["production"] },
    ]);
    const wait = (...options: string[]) =>
      cli.run(["index", "status", "--wait", "--project", "docs", ...options]);
    const report = (node: string, settled: boolean) => cli.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes,
        settled)
      SELECT ${node}, id, 768, (SELECT max(seq) FROM change_log), 9, 9, 1, ${settled}
      FROM projects`;
    const unloaded = await wait("--timeout", "0");
    expect(unloaded).toMatchObject({ status: 1, stdout: "" });
    expect(unloaded.stderr).toContain("docs: not complete after 0 s: no running server has loaded");
    const nodes = [crypto.randomUUID(), crypto.randomUUID()] as const;
    await report(nodes[0], true);
    await report(nodes[1], false);
    const building = await wait("--timeout", "0");
    expect(building.stderr).toContain("indexes being built or calibrated");
    let ended = false;
    const waiting = wait().then((result) => {
      ended = true;
      return result;
    });
    await untilLooked(cli.sql);
    expect(ended).toBe(false);
    await cli.sql`UPDATE index_state SET settled = true, updated_at = now()`;
    const { status, stdout } = await waiting;
    expect(status).toBe(0);
    expect(stdout.split("\n").filter((line) => / docs .* yes /.test(line))).toHaveLength(2);
  });

  test("status --wait without a project, and a project that does not exist, name the remedy", async () => {
    const unnamed = await cli.run(["index", "status", "--wait"]);
    expect(unnamed).toMatchObject({ status: 1, stdout: "" });
    expect(unnamed.stderr).toContain("--wait needs --project <slug>");
    const missing = await cli.run(["index", "status", "--wait", "--project", "nope"]);
    expect(missing.stderr).toBe('tessera: there is no project "nope"\n');
  });

  test("rebuild appends a request for each project to the change log", async () => {
    await cli.import([...FRAME, { ...FRAME[1], slug: "other" }]);
    expect((await cli.run(["index", "rebuild", "--project", "docs"])).status).toBe(0);
    const all = await cli.run(["index", "rebuild"]);
    expect(all.status).toBe(0);
    expect(all.stdout).toContain("docs: no running server has loaded it");
    const rows = await cli.sql`
      SELECT kind, slug FROM change_log c JOIN projects p ON p.id = c.project_id ORDER BY seq`;
    expect(rows.map(({ kind, slug }) => `${kind} ${slug}`)).toEqual([
      "rebuild docs",
      "rebuild docs",
      "rebuild other",
    ]);
  });

  test("rebuild waits for the servers that have loaded the project", async () => {
    await cli.import(FRAME);
    await cli.sql`
      INSERT INTO index_state (node_id, project_id, dimension, seq, vectors, graphed, memory_bytes)
      SELECT gen_random_uuid(), id, 768, 0, 0, 0, 0 FROM projects`;
    let ended = false;
    const running = cli.run(["index", "rebuild"]).then((result) => {
      ended = true;
      return result;
    });
    const requested = async () => (await cli.sql`SELECT 1 FROM change_log`).length > 0;
    await until("the rebuild is requested", requested);
    await untilLooked(cli.sql);
    expect(ended).toBe(false);
    await cli.sql`
      UPDATE index_state SET seq = (SELECT max(seq) FROM change_log), updated_at = now()`;
    const result = await running;
    expect(result).toMatchObject({ status: 0, stdout: "docs: rebuilt by 1 running server\n" });
  });

  test("rebuild of a project that does not exist fails", async () => {
    const result = await cli.run(["index", "rebuild", "--project", "nope"]);
    expect(result).toMatchObject({ status: 1, stderr: 'tessera: there is no project "nope"\n' });
  });
});

describe("embed and bench", () => {
  test("embed prints the body of a search", async () => {
    const { status, stdout } = await cli.run(["embed", "how do snapshots work", "--array"]);
    expect(status).toBe(0);
    const body = JSON.parse(stdout);
    expect(body).toMatchObject({ dimension: 768, limit: 10 });
    expect(body.vector).toHaveLength(768);
    const short = JSON.parse((await cli.run(["embed", "how do snapshots work"])).stdout);
    const bytes = new Uint8Array(Buffer.from(short.vector, "base64"));
    expect([...new Float32Array(bytes.buffer)]).toEqual([...Float32Array.from(body.vector)]);
  });

  test("bench lists the benchmarks and rejects an unknown one", async () => {
    const { status, stdout } = await cli.run(["bench"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^micro\/shards {2,}\S/m);
    const unknown = await cli.run(["bench", "nope"]);
    expect(unknown.status).toBe(1);
    expect(unknown.stderr).toContain('unknown benchmark "nope"');
  });
});
