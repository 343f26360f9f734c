import { beforeEach, describe, expect, test } from "bun:test";
import { parseKey } from "../../src/auth/key-format.ts";
import { jsonLines } from "../../support/ndjson.ts";
import { contentsOf, dump, FRAME, openCli, type TestCli } from "./support.ts";

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

const GRACE = { record: "user", email: "grace@example.com", name: "Grace" };
const file = (path: string) => ({
  record: "file",
  project: "docs",
  path,
  environments: ["production"],
  content: path,
});

/** The rows of a list as `--json` prints them. */
async function list(...args: string[]): Promise<Record<string, unknown>[]> {
  const { status, stdout } = await cli.run([...args, "--json"]);
  expect(status).toBe(0);
  return jsonLines(stdout);
}

/** Commands that destroy something neither ask without a terminal nor change anything. */
async function needsConfirmation(...args: string[]): Promise<void> {
  const before = await dump(cli.sql);
  const result = await cli.run(args);
  expect(result).toMatchObject({ status: 1, stdout: "" });
  expect(result.stderr).toContain("--yes");
  expect(await dump(cli.sql)).toEqual(before);
  const confirmed = await cli.run([...args, "--yes"]);
  expect(confirmed.status, confirmed.stderr).toBe(0);
  expect(confirmed.stdout).toBe("");
}

describe("keys", () => {
  const createKey = async (...options: string[]) => {
    const args = ["keys", "create", "--user", "ada@example.com", "--name", "k", ...options];
    const { stdout } = await cli.run(args);
    return { key: stdout.trim(), prefix: parseKey(stdout.trim())?.keyPrefix as string };
  };

  test("list shows valid keys with their rights and never a secret, and all on request", async () => {
    await cli.import(FRAME);
    const { key, prefix } = await createKey("--project", "docs", "--scope", "search.query");
    const { prefix: other } = await createKey();
    expect(await list("keys", "list")).toMatchObject([
      { key_prefix: prefix, user: "ada@example.com", project: "docs", scopes: ["search.query"] },
      { key_prefix: other, project: null, scopes: [], revoked_at: null },
    ]);
    const table = await cli.run(["keys", "list", "--project", "docs"]);
    expect(table.stdout).toMatch(/^key +name +user +project +scopes/);
    expect(table.stdout).toContain(prefix);
    expect(table.stdout).not.toContain(other);
    expect(table.stdout).not.toContain(key);
    await cli.run(["keys", "revoke", prefix, "--yes"]);
    expect(await list("keys", "list")).toHaveLength(1);
    expect(await list("keys", "list", "--all", "--user", "ADA@example.com")).toHaveLength(2);
  });

  test("revoke ends a key by its public part, its id or the whole key, once it is confirmed", async () => {
    await cli.import(FRAME);
    const { prefix } = await createKey();
    await needsConfirmation("keys", "revoke", prefix);
    const [row] = await cli.sql`SELECT id, revoked_at FROM api_keys`;
    expect(row?.["revoked_at"]).not.toBeNull();
    const again = await cli.run(["keys", "revoke", prefix, "--yes"]);
    expect(again.status).toBe(1);
    expect(again.stderr).toMatch(/no key ".+" is valid/);
    const { key } = await createKey();
    expect((await cli.run(["keys", "revoke", key, "--yes"])).stderr).not.toContain(key);
    const [entry] = await cli.sql`SELECT via FROM audit_log WHERE action = 'key.revoked' LIMIT 1`;
    expect(entry?.["via"]).toBe("command");
  });

  test("rotate prints a key with the same rights, and ends the old one after the grace time", async () => {
    await cli.import(FRAME);
    const { prefix } = await createKey("--project", "docs", "--scope", "search.query");
    const rotated = await cli.run(["keys", "rotate", prefix, "--grace", "2h"]);
    const parsed = parseKey(rotated.stdout.trim().split("\n").at(-1) as string);
    const [old, fresh] = await list("keys", "list");
    expect(fresh).toMatchObject({
      key_prefix: parsed?.keyPrefix,
      user: "ada@example.com",
      name: "k",
      project: "docs",
      scopes: ["search.query"],
      expires_at: null,
    });
    const left = new Date(old?.["expires_at"] as string).getTime() - Date.now();
    expect(left).toBeGreaterThan(7_000_000);
    expect(left).toBeLessThanOrEqual(7_200_000);
    await cli.run(["keys", "rotate", fresh?.["key_prefix"] as string, "--grace", "0"]);
    const prefixes = (await list("keys", "list")).map((key) => key["key_prefix"]);
    expect(prefixes).toHaveLength(2);
    expect(prefixes).not.toContain(fresh?.["key_prefix"]);
    expect((await cli.run(["keys", "rotate", prefix, "--grace", "5"])).status).toBe(2);
  });
});

describe("members", () => {
  test("add, list and remove change memberships, and refuse mistyped users and roles", async () => {
    await cli.import([...FRAME, GRACE]);
    const add = ["members", "add", "grace@example.com", "--project", "docs"];
    expect((await cli.run([...add, "--role", "editor"])).status).toBe(0);
    expect(await list("members", "list", "--project", "docs")).toMatchObject([
      { email: "ada@example.com", role: "owner" },
      { email: "grace@example.com", role: "editor" },
    ]);
    const before = await dump(cli.sql);
    expect((await cli.run([...add, "--role", "edtior"])).status).toBe(2);
    const mistyped = await cli.run(["members", "add", "grce@example.com", "--project", "docs"]);
    expect(mistyped.status).toBe(1);
    expect(mistyped.stderr).toContain("did you mean grace@example.com?");
    expect(
      (await cli.run(["members", "add", "graceexample.com", "--project", "docs"])).status,
    ).toBe(2);
    expect(await dump(cli.sql)).toEqual(before);
    await needsConfirmation("members", "remove", "grace@example.com", "--project", "docs");
    expect(await list("members", "list", "--project", "docs")).toHaveLength(1);
    const created = ["members", "add", "new@example.com", "--project", "docs", "--create"];
    expect((await cli.run(created)).stderr).toContain("is now member of docs");
  });
});

describe("projects", () => {
  test("list counts what they contain, map names their ids for balancers, and delete removes one with everything in it", async () => {
    await cli.import([...FRAME, file("a.md"), { ...FRAME[1], slug: "other" }]);
    expect(await list("projects", "list")).toMatchObject([
      { slug: "docs", owners: ["ada@example.com"], members: 1, files: 1, environments: 1 },
      { slug: "other", files: 0 },
    ]);
    const projects = await list("projects", "list");
    for (const [format, end] of [
      ["nginx", ";"],
      ["haproxy", ""],
    ]) {
      const { stdout } = await cli.run(["projects", "map", "--format", format as string]);
      expect(stdout).toBe(projects.map(({ slug, id }) => `${slug} ${id}${end}\n`).join(""));
    }
    expect((await cli.run(["projects", "map", "--format", "caddy"])).status).toBe(2);
    await needsConfirmation("projects", "delete", "docs");
    expect(await list("projects", "list")).toMatchObject([{ slug: "other" }]);
    const [left] = await cli.sql`SELECT count(*)::integer AS count FROM files`;
    expect(left?.["count"]).toBe(0);
    expect((await cli.run(["projects", "delete", "docs", "--yes"])).status).toBe(1);
  });
});

describe("releases and environments", () => {
  const activate = (...args: string[]) =>
    cli.run(["environments", "activate", ...args, "--project", "docs"]);

  test("a release freezes a working set, and an environment serves it until it is unpinned", async () => {
    await cli.import([...FRAME, file("a.md")]);
    const create = ["releases", "create", "v1", "--project", "docs"];
    expect((await cli.run(create)).status).toBe(0);
    await cli.import([file("b.md")]);
    expect(Object.keys(await contentsOf(cli.sql, "release", "v1"))).toEqual(["a.md"]);
    const again = await cli.run(create);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('has a release "v1" already');

    expect((await activate("production", "v1")).status).toBe(0);
    const serves = async () => (await list("environments", "list", "--project", "docs"))[0];
    expect(await serves()).toMatchObject({ name: "production", active_release: "v1", files: 2 });
    expect(await list("releases", "list", "--project", "docs")).toMatchObject([
      { name: "v1", files: 1, environments: ["production"] },
    ]);
    expect((await activate("production", "--working-set")).status).toBe(0);
    expect(await serves()).toMatchObject({ active_release: null });
  });

  test("what does not exist is refused and not created", async () => {
    await cli.import([...FRAME, file("a.md")]);
    const before = await dump(cli.sql);
    for (const args of [
      ["environments", "activate", "production", "v9", "--project", "docs"],
      ["environments", "activate", "prodction", "--working-set", "--project", "docs"],
      ["releases", "create", "v1", "--environment", "prodction", "--project", "docs"],
      ["releases", "create", "v1", "--project", "dcos"],
    ]) {
      const result = await cli.run(args);
      expect(result, args.join(" ")).toMatchObject({ status: 1, stdout: "" });
    }
    expect((await activate("production")).status).toBe(2);
    expect((await activate("production", "v1", "--working-set")).status).toBe(2);
    expect(await dump(cli.sql)).toEqual(before);
  });
});

describe("files", () => {
  test("remove takes files out of a working set, and --purge out of everything", async () => {
    await cli.import([...FRAME, file("a.md"), file("b.md"), file("c.md")]);
    await cli.run(["releases", "create", "v1", "--project", "docs"]);
    await needsConfirmation("files", "remove", "a.md", "b.md", "--project", "docs");
    expect(Object.keys(await contentsOf(cli.sql, "environment", "production"))).toEqual(["c.md"]);
    expect(Object.keys(await contentsOf(cli.sql, "release", "v1"))).toHaveLength(3);
    await needsConfirmation("files", "remove", "a.md", "--project", "docs", "--purge");
    expect(Object.keys(await contentsOf(cli.sql, "release", "v1"))).toEqual(["b.md", "c.md"]);
    expect(await list("files", "list", "--project", "docs")).toMatchObject([
      { path: "b.md", versions: 1, environments: [], releases: 1 },
      { path: "c.md", environments: ["production"] },
    ]);
    const inUse = await list("files", "list", "--project", "docs", "--environment", "production");
    expect(inUse.map(({ path }) => path)).toEqual(["c.md"]);
    const missing = await cli.run(["files", "remove", "b.md", "--project", "docs", "--yes"]);
    expect(missing.status).toBe(1);
    expect(missing.stderr).toContain('there is no file "b.md" in production of docs');
  });
});

test("--version prints the version of the package alone", async () => {
  const { version } = await Bun.file("package.json").json();
  expect(await cli.run(["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
});
