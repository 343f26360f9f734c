import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

const runner = readFileSync(`${PROJECT_ROOT}/scripts/run.sh`, "utf8");
/** The programs behind the commands of the project. */
const programs = [...new Set(runner.match(/(?<="\$bun" )(src|scripts)\/[\w/-]+\.ts/g))];

/** Where the user calls them from. */
const folder = temporaryFolder("help");

async function run(program: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, program, ...args], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, TESSERA_CWD: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()];
  const [stdout = "", stderr = ""] = await Promise.all(texts);
  return { status: await child.exited, stdout, stderr };
}

test("every command of the project says how it is called, and does nothing else then", async () => {
  expect(programs.length).toBeGreaterThan(6);
  for (const program of programs) {
    const { status, stdout } = await run(program, "--help");
    expect([program, status]).toEqual([program, 0]);
    expect(stdout.toLowerCase()).toStartWith("usage: ");
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("the service refuses arguments, which it would ignore", async () => {
  const { status, stderr } = await run("src/main.ts", "--port", "4000");
  expect(status).toBe(1);
  expect(stderr).toStartWith('tessera: unknown argument "--port"');
  expect(readdirSync(folder)).toEqual([]);
});
