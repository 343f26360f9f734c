import { describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { startServer } from "../../../support/processes/process.ts";
import { cloneService } from "./clone-service.ts";

const clone = cloneService();
const name = `${process.platform}-${process.arch}`;
const addon = join(clone, "native", "prebuilt", `${name}.node`);
const built = join(clone, "native", "build");
const WITHOUT_COMPILER = { PATH: "/nowhere", HOME: clone };

rmSync(join(clone, "native", "prebuilt"), { recursive: true, force: true });

/** What the build before this test has compiled stays, so that the release command only links it. */
function removeAddon(): void {
  for (const file of ["tessera.node", "tessera.node.stamp"]) {
    rmSync(join(built, file), { force: true });
  }
}

async function run(args: readonly string[], env: Record<string, string | undefined>) {
  const program = Bun.spawn([process.execPath, ...args], {
    cwd: clone,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [status, stdout, stderr] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  return { status, stdout, stderr };
}

async function buildWithoutCompiler() {
  removeAddon();
  return await run(["native/build.ts"], WITHOUT_COMPILER);
}

/** One line with the remedy, and what is wrong with the prebuilt addon. */
const missing = (detail: string) => ({
  status: 1,
  stdout: "",
  stderr: expect.stringMatching(
    new RegExp(`^no C\\+\\+ compiler found${detail}; install one with: \\S+ .+\\n$`),
  ),
});

describe("without a C++ compiler", () => {
  test("a clone without a prebuilt addon is told in one line what to install", async () => {
    expect(await buildWithoutCompiler()).toEqual(missing(""));
  });

  test("the service starts with the addon that the release command has built", async () => {
    const released = await run(["scripts/release-native.ts"], process.env);
    expect(released).toEqual({ status: 0, stdout: `${addon}\n`, stderr: "" });
    removeAddon();
    const { url } = await createTestDatabase();
    const env = { ...WITHOUT_COMPILER, DATABASE_URL: url };
    const service = await startServer({ root: clone, env });
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
  });

  test("a prebuilt addon that is damaged or of other sources is not used", async () => {
    const bytes = readFileSync(addon);
    const damaged = Buffer.from(bytes);
    damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] as number) ^ 1;
    writeFileSync(addon, damaged);
    const checksum = ` \\(the prebuilt addon for ${name} does not match its checksum\\)`;
    expect(await buildWithoutCompiler()).toEqual(missing(checksum));
    writeFileSync(addon, bytes);
    expect((await buildWithoutCompiler()).status).toBe(0);
    appendFileSync(join(clone, "native", "src", "common", "checksum.hpp"), "// changed\n");
    const sources = ` \\(the prebuilt addon for ${name} is of other sources\\)`;
    expect(await buildWithoutCompiler()).toEqual(missing(sources));
  });

  test("the release command builds for known machines only", async () => {
    const wrong = await run(["scripts/release-native.ts", "plan9-mips"], process.env);
    expect(wrong).toMatchObject({ status: 1, stdout: "" });
    expect(wrong.stderr).toContain("is none of the targets linux-x64, linux-arm64, darwin-arm64");
  });
});
