import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApi } from "../../support/api/api.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { openPage, startBrowser } from "../../support/processes/browser.ts";
import { lacks } from "../../support/programs.ts";
import { until } from "../../support/until.ts";

const ROOT = join(import.meta.dir, "../..");
const LIBRARY = join(ROOT, "node_modules");
const folder = mkdtempSync(join(tmpdir(), "tessera-client-"));
onCleanup(async () => rmSync(folder, { recursive: true }));

async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...env },
  });
  const [out, err] = await Promise.all(
    [child.stdout, child.stderr].map((s) => new Response(s).text()),
  );
  expect(await child.exited, `${command.join(" ")}\n${out}${err}`).toBe(0);
  return out ?? "";
}

/** The package in this folder as npm serves it to pages. */
const pages = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/") return new Response("", { headers: { "content-type": "text/html" } });
    const file = Bun.file(join(folder, "node_modules/tessera-client", pathname));
    return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 });
  },
});
onCleanup(() => pages.stop(true));
const origin = `http://127.0.0.1:${pages.port}`;

const api = await startApi({ env: { CORS_ORIGINS: origin } });
const member = await api.user();
const project = { name: "Handbook", slug: "handbook", embedder: "hashing" };
expect((await api.post("/projects", project, member)).status).toBe(201);
const { key } = await api.key(member);
const put = (path: string, content: string) =>
  api.send("PUT", `/projects/handbook/files/${encodeURIComponent(path)}`, {
    as: member,
    body: content,
    headers: { "content-type": "text/markdown" },
  });
expect((await put("guides/snapshots.md", "# Snapshots\n\nA snapshot keeps an index.")).status).toBe(
  201,
);
const ask = { query: "snapshots", mode: "semantic", threshold: 0 };
await until("the file is found", async () => {
  const { body } = await api.post("/projects/handbook/retrieve", ask, member);
  return body.data?.length > 0;
});

await Bun.write(join(folder, "package.json"), '{"private": true, "type": "module"}');
await run(["npm", "pack", join(ROOT, "client"), "--silent"]);
await run(["npm", "install", "--offline", "--no-audit", "--no-fund", "./tessera-client-1.0.0.tgz"]);
// What an application that uses LangChain has installed beside it.
mkdirSync(join(folder, "node_modules/@langchain"));
symlinkSync(join(LIBRARY, "@langchain/core"), join(folder, "node_modules/@langchain/core"));

const readme = await Bun.file(join(ROOT, "client/README.md")).text();
const examples = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
const [opening = "", ...rest] = examples;
const env = { TESSERA_URL: api.url, TESSERA_KEY: key };

test("the examples of the README run under Node.js, one after the other", async () => {
  expect(rest.length).toBeGreaterThanOrEqual(10);
  // In one process, because a start takes longer than an example.
  const end = "end of example";
  const files = rest.map((_, i) => `./example-${i}.mjs`);
  for (const [i, example] of rest.entries()) {
    await Bun.write(join(folder, files[i] as string), `${opening}\n${example}`);
  }
  const all = files.map((file) => `await import("${file}");\nconsole.log("${end}");\n`).join("");
  await Bun.write(join(folder, "examples.mjs"), all);
  const printed = (await run(["node", "examples.mjs"], env)).split(end);
  expect(printed).toHaveLength(rest.length + 1);
  for (const [i, example] of rest.entries()) expect(printed[i]?.trim(), example).not.toBe("");
});

test("the package compiles in strict projects, with the oldest compiler and with the newest one for bundlers", async () => {
  const typed = rest.map(
    (example, i) => `async function example${i}() {\n${example.replace(/^import .*$/gm, "")}}`,
  );
  const imports = rest.flatMap((example) => example.match(/^import .*$/gm) ?? []);
  const used = rest.map((_, i) => `void example${i}();`);
  const declared = "declare const process: { env: Record<string, string | undefined> };";
  await Bun.write(
    join(folder, "application.ts"),
    [opening, ...imports, declared, ...typed, ...used].join("\n"),
  );
  const strict = { noEmit: true, strict: true, target: "es2022", types: [] };
  // The declarations of the package are checked, and not those of the compiler.
  const checked = { skipLibCheck: false, skipDefaultLibCheck: true };
  const lib = ["esnext", "dom", "dom.asynciterable"];
  for (const [resolution, compiler, ...args] of [
    [{ module: "nodenext" }, "typescript"],
    // Several checkers take twice the processor time of one.
    [{ module: "esnext", moduleResolution: "bundler" }, "typescript-7", "--singleThreaded"],
  ] as const) {
    const compilerOptions = { ...strict, ...checked, lib, ...resolution };
    const settings = JSON.stringify({ compilerOptions, files: ["application.ts"] });
    await Bun.write(join(folder, "tsconfig.json"), settings);
    await run(["node", join(LIBRARY, `${compiler}/bin/tsc`), ...args]);
  }
});

test.skipIf(lacks("chromium"))(
  "the package runs in a browser, on a page of another origin",
  async () => {
    const { page } = await openPage(await startBrowser(), origin, { width: 800, height: 600 });
    await page.goto(origin);
    const script = `(async () => {
    const { Tessera } = await import("/dist/index.js");
    const client = new Tessera({ baseUrl: "${api.url}", credential: "${key}" });
    await client.createProject({ name: "Pages", slug: "pages" });
    await client.putFile("pages", "page.md", "# Written by a page");
    const found = await client.lookUpKnowledge("pages", { query: "written" }, { minChange: client.change });
    return found.data.map(({ path }) => path);
  })()`;
    expect(await page.evaluate(script)).toEqual(["page.md"]);
  },
  120_000,
);
