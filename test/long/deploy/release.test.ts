import { expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import dockerignore from "@balena/dockerignore";
import { Glob } from "bun";
import { copiedPaths } from "../../../scripts/release.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";

const { version, dependencies } = JSON.parse(
  readFileSync(join(PROJECT_ROOT, "package.json"), "utf8"),
);

function run(command: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    cwd,
    env: { ...process.env, ...env },
  });
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** A clone of what is committed or not, all of it committed, with the libraries and the objects of this one. */
function cloneRepository(): string {
  const clone = join(temporaryFolder("release"), "tessera");
  const listed = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], PROJECT_ROOT).stdout;
  for (const file of listed.split("\0").filter((each) => each !== "")) {
    const from = join(PROJECT_ROOT, file);
    if (existsSync(from)) cpSync(from, join(clone, file));
  }
  cpSync(join(PROJECT_ROOT, "native/build"), join(clone, "native/build"), { recursive: true });
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(clone, "node_modules"));
  const git = (...args: string[]) => expect(run(["git", ...args], clone).stderr).toBe("");
  git("init", "-q");
  // The repository ignores the folder, not a link to one.
  writeFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
  git("add", "-A");
  git("-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", "all");
  return clone;
}

/** The relative imports of the sources in a folder that lead out of it, or nowhere. */
function missingImports(folder: string): string[] {
  const missing: string[] = [];
  for (const file of new Glob("**/*.{ts,tsx}").scanSync({ cwd: folder })) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name = ""] of text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)) {
      const path = join(folder, dirname(file), name);
      if (relative(folder, path).startsWith("..") || !existsSync(path))
        missing.push(`${file}: ${name}`);
    }
  }
  return missing;
}

test("a release has all of its parts, whole and of one version", async () => {
  const clone = cloneRepository();
  const { url } = await createTestDatabase();
  const env = { DATABASE_URL: url };
  const released = run([process.execPath, "scripts/release.ts"], clone, env);
  expect(released.stderr).not.toContain("failed");
  const dist = join(clone, "dist");
  const addon = `tessera-${version}-${process.platform}-${process.arch}`;
  const files = [
    ...[`${addon}.json`, `${addon}.node`, `tessera-${version}.cdx.json`],
    ...[`tessera-${version}.tar.gz`, `tessera-client-${version}.tgz`],
    ...[`tessera-image-${version}.tar.gz`, `tessera-openapi-${version}.json`],
  ];
  expect(released.stdout.trim().split("\n").sort()).toEqual(["SHA256SUMS", ...files].sort());
  const checked = run(["sha256sum", "-c", "SHA256SUMS"], dist);
  expect(checked.stdout.match(/: OK$/gm)).toHaveLength(files.length);

  const json = (name: string) => JSON.parse(readFileSync(join(dist, name), "utf8"));
  expect(json(`tessera-openapi-${version}.json`).info.version).toBe(version);
  const bill = json(`tessera-${version}.cdx.json`);
  expect(bill.metadata.component).toMatchObject({ name: "tessera", version });
  const named = new Set(bill.components.map(({ name }: { name: string }) => name));
  const unnamed = [...Object.keys(dependencies), "snowball"].filter((name) => !named.has(name));
  expect(unnamed).toEqual([]);
  const contents = run(["tar", "-tzf", `tessera-client-${version}.tgz`], dist).stdout;
  for (const file of ["dist/index.js", "dist/index.d.ts", "dist/langchain.js", "README.md"]) {
    expect(contents).toContain(`package/${file}\n`);
  }

  // The image's context holds all that its build copies, and Docker sends it.
  const context = temporaryFolder("context");
  run(["tar", "-xzf", join(dist, `tessera-image-${version}.tar.gz`)], context);
  const ignored = dockerignore().add(readFileSync(join(context, ".dockerignore"), "utf8"));
  const sent = [...new Glob("**/*").scanSync({ cwd: context, dot: true })];
  const [addonPath] = sent.filter((file) => file.endsWith(".node"));
  expect(addonPath).toBe(`native/prebuilt/${process.platform}-${process.arch}.node`);
  expect(
    sent.filter((file) => ignored.ignores(file) && !/^(Dockerfile|\.dockerignore)$/.test(file)),
  ).toEqual([]);
  for (const path of copiedPaths(readFileSync(join(context, "Dockerfile"), "utf8"))) {
    expect([...new Glob(path).scanSync({ cwd: context, onlyFiles: false })], path).not.toEqual([]);
  }
  expect(missingImports(join(context)).filter((each) => !each.startsWith("scripts/"))).toEqual([]);

  // The archive of the sources brings the addon along as well, so that no compiler is needed.
  const archive = run(["tar", "-tzf", `tessera-${version}.tar.gz`], dist).stdout.split("\n");
  expect(archive).toContain(`tessera-${version}/${addonPath}`);
  expect(readdirSync(clone)).toContain("dist");

  cpSync(join(clone, "README.md"), join(clone, "more.md"));
  const refused = run([process.execPath, "scripts/release.ts"], clone, env);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("commit or remove these first:\n?? more.md");
});
