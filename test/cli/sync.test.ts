import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Tessera } from "../../client/src/index.ts";
import { FolderSync } from "../../src/cli/folder-sync.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { callCommand } from "../../support/processes/command.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const owner = await api.user();
const { key } = await api.key(owner);

async function start(records: readonly object[] = []) {
  const project = await api.project(owner);
  await importsOf(api, owner).post(project, [
    { record: "environment", name: "production" },
    ...records.map((each) => ({ record: "file", environments: ["production"], ...each })),
  ]);
  const folder = temporaryFolder("sync");
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const remove = (path: string) => rmSync(join(folder, path));
  const args = ["sync", folder, "--project", project.slug, "--url", api.url, "--key", key];
  const sync = (...options: string[]) => callCommand([...args, ...options], { env: {} });
  return { project, folder, write, remove, sync, args };
}

async function contents({ slug }: TestProject): Promise<Record<string, string>> {
  const { body } = await api.get(`/projects/${slug}/files`, owner);
  const entries = body.data.map(async ({ id, path }: Json) => {
    return [path, (await api.get(`/projects/${slug}/files/${id}`, owner)).body.content];
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe("tessera sync", () => {
  test("makes an environment equal to the folder over HTTP alone, after it has printed the plan", async () => {
    const { project, write, remove, sync } = await start([
      { path: "old.md", content: "old" },
      { path: "same.md", content: "same" },
      { path: "size.md", content: "one" },
      { path: "data.json", content: "{}" },
    ]);
    write("same.md", "same");
    write("size.md", "two");
    write("docs/bom é.md", "\ufeff# Ä\r\n");
    const planned = await sync("--dry-run");
    const plan = [
      "plan: 1 new, 1 changed, 1 removed, 1 unchanged",
      ...["  new docs/bom é.md", "  changed size.md", "  removed old.md", ""],
    ].join("\n");
    expect(planned).toMatchObject({ status: 0, stdout: plan });
    expect(Object.keys(await contents(project))).toContain("old.md");
    expect(await sync()).toMatchObject({ status: 0, stdout: plan });
    const expected = { "data.json": "{}", "docs/bom é.md": "# Ä\r\n" };
    expect(await contents(project)).toEqual({ ...expected, "same.md": "same", "size.md": "two" });
    const again = await sync();
    expect(again.stdout).toBe("plan: 0 new, 0 changed, 0 removed, 3 unchanged\n");
    remove("size.md");
    expect((await sync()).stdout).toStartWith("plan: 0 new, 0 changed, 1 removed, 2 unchanged\n");
    expect(await contents(project)).toEqual({ ...expected, "same.md": "same" });
  });

  test("keeps what the environment has of a file that is not text, and names it", async () => {
    const { project, write, sync } = await start([{ path: "bad.md", content: "good" }]);
    write("bad.md", new Uint8Array([0xff, 0xfe]));
    write("fine.md", "fine");
    const { status, stderr } = await sync();
    expect(status).toBe(1);
    expect(stderr).toContain("bad.md is not valid UTF-8 at byte 0");
    expect(await contents(project)).toEqual({ "bad.md": "good", "fine.md": "fine" });
  });

  test("keeps what the environment has below a folder that cannot be read, names it, and goes on", async () => {
    const { project, folder, write, sync } = await start([
      { path: "d\ufffd/in.md", content: "kept" },
      { path: "old.md", content: "old" },
    ]);
    mkdirSync(Buffer.concat([Buffer.from(`${folder}/d`), Buffer.of(0xfe)]));
    write("fine.md", "fine");
    const { status, stderr } = await sync();
    expect([status, stderr]).toEqual([1, expect.stringContaining("d\ufffd has a name")]);
    expect(await contents(project)).toEqual({ "d\ufffd/in.md": "kept", "fine.md": "fine" });
  });

  test("converts an unchanged document once", async () => {
    const { project, folder, write, args } = await start();
    write("a.html", "<h1>A</h1>");
    utimesSync(join(folder, "a.html"), 1e9, 1e9);
    const env = { DATA_DIR: temporaryFolder("conversions") };
    const sync = () => callCommand([...args, "--html"], { env });
    expect((await sync()).status).toBe(0);
    expect(await contents(project)).toEqual({ "a.html.md": "# A" });
    // Another text shows that it is taken from there.
    const kept = new Database(join(env.DATA_DIR, "conversions.sqlite"));
    const [{ key: place }] = kept.query("SELECT key FROM conversions").all() as [{ key: string }];
    const other = JSON.stringify({ text: "# B", leftOut: [] });
    const hash = new Bun.CryptoHasher("sha256").update(`${place}\n${other}\n`).digest("hex");
    kept.run("UPDATE conversions SET text = ?, hash = ?", [other, hash]);
    kept.close();
    expect((await sync()).stdout).toStartWith("plan: 0 new, 1 changed, 0 removed, 0 unchanged\n");
    expect(await contents(project)).toEqual({ "a.html.md": "# B" });
  });

  test("leaves alone what somebody else has changed since the plan, and names it", async () => {
    const { project, folder, write } = await start([
      { path: "a.md", content: "a" },
      { path: "gone.md", content: "gone" },
    ]);
    write("a.md", "b");
    const client = new Tessera({ baseUrl: api.url, credential: key });
    const { slug } = project;
    const sync = new FolderSync(client, { folder, project: slug, environment: "production" });
    const plan = await sync.plan();
    await client.files.put(slug, "a.md", "theirs");
    await client.files.put(slug, "gone.md", "theirs, too");
    const faults: string[] = [];
    await sync.apply(plan, { onStep: (path, fault) => faults.push(`${path} ${fault}`) });
    const fault = "was changed by somebody else";
    expect(faults.sort()).toEqual([`a.md ${fault}`, `gone.md ${fault}`]);
    expect(await contents(project)).toEqual({ "a.md": "theirs", "gone.md": "theirs, too" });
    await client.files.delete(slug, "gone.md");
    await sync.apply(await sync.plan(), {
      onStep: (path, failed) => expect(failed, path).toBeUndefined(),
    });
    expect(await contents(project)).toEqual({ "a.md": "b" });
  });

  test("removes nothing for a folder without Markdown files unless --yes is given", async () => {
    const { project, sync } = await start([{ path: "a.md", content: "a" }]);
    const refused = await sync();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain(
      "there is no .md, .mdx, or .markdown file in the folder; --yes removes those of the environment",
    );
    expect(await contents(project)).toEqual({ "a.md": "a" });
    expect((await sync("--yes")).status).toBe(0);
    expect(await contents(project)).toEqual({});
  });

  test("refuses an environment that serves a release, which files cannot change", async () => {
    const { project, write, sync } = await start([
      { path: "a.md", content: "a", releases: ["v1"] },
    ]);
    const client = new Tessera({ baseUrl: api.url, credential: key });
    await client.updateEnvironment(project.slug, "production", { active_release: "v1" });
    write("a.md", "b");
    const refused = await sync();
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("a release")]);
    await client.updateEnvironment(project.slug, "production", { active_release: null });
    expect((await sync()).status).toBe(0);
    expect(await contents(project)).toEqual({ "a.md": "b" });
  });

  test("says what the service says, and that it does not answer", async () => {
    const { args, write } = await start();
    write("a.md", "a");
    const swap = (name: string, value: string) => args.with(args.indexOf(name) + 1, value);
    const call = (changed: string[]) => callCommand(changed, { env: {} });
    const unknown = await call(swap("--project", "none"));
    expect([unknown.status, unknown.stderr]).toEqual([
      1,
      "tessera: No such project is visible to this caller.\n",
    ]);
    expect((await call(swap("--key", "nonsense"))).stderr).toContain("token is not valid");
    const away = await call(swap("--url", "http://127.0.0.1:1"));
    expect([away.status, away.stderr]).toEqual([1, expect.stringContaining("does not answer")]);
    const keyless = await call(args.slice(0, -2));
    expect(keyless.stderr).toContain("--key or in TESSERA_API_KEY");
  });

  test("with --watch follows new, changed and removed files until it is interrupted", async () => {
    const { project, args, write, remove } = await start();
    write("a.md", "# A");
    const program = Bun.spawn([process.execPath, "src/cli/main.ts", ...args, "--watch"], {
      cwd: PROJECT_ROOT,
      env: { PATH: process.env["PATH"] },
      stdout: "ignore",
      stderr: "ignore",
    });
    onCleanup(() => program.kill("SIGKILL"));
    const untilStored = (expected: Record<string, string>) =>
      until(`the environment has ${Object.keys(expected)}`, async () =>
        Bun.deepEquals(await contents(project), expected),
      );
    await untilStored({ "a.md": "# A" });
    write("new/b.md", "# B");
    await untilStored({ "a.md": "# A", "new/b.md": "# B" });
    write("a.md", "# C");
    remove("new/b.md");
    await untilStored({ "a.md": "# C" });
    program.kill("SIGINT");
    expect(await program.exited).toBe(130);
  });
});
