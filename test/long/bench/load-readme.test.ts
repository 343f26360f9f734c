import { expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/folders.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";

const README = readFileSync(join(PROJECT_ROOT, "bench/load/README.md"), "utf8");

/** The commands of the README, each with the comment before it that says why it is not run. */
const blocks = [...README.matchAll(/(?:<!-- not run: (.+?) -->\n)?```sh\n([\s\S]*?)```/g)].map(
  ([, notRun, text = ""]) => ({ notRun, text }),
);

/** The example is small and quick. */
const QUICKLY = ["--vectors 200", "--query-count 20", "--duration 1s", "--warmup 0"].join(" ");

function run(command: string, cwd: string): void {
  const env = { ...process.env, TESSERA_API_KEY: undefined };
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", command], { cwd, env });
  expect(exitCode, `${command}\n${stderr}`).toBe(0);
}

test("every command of the load testers' README is run, or says why not", () => {
  expect(blocks.filter(({ notRun }) => notRun === undefined)).toHaveLength(1);
  expect(blocks).toHaveLength(3);
});

test.skipIf(!existsSync(join(PROJECT_ROOT, ".git")))(
  "two commands lead from a clone to a plot, in the folder of the reader",
  () => {
    const folder = temporaryFolder("clone");
    const [clone = "", measure = "", ...more] = (blocks[0]?.text ?? "").trim().split("\n");
    expect(more).toEqual([]);
    run(clone.replace("REPOSITORY", PROJECT_ROOT), folder);
    // What the second command would fetch and build.
    const root = join(folder, "tessera");
    symlinkSync(join(PROJECT_ROOT, "node_modules"), join(root, "node_modules"));
    cpSync(join(PROJECT_ROOT, "native/build"), join(root, "native/build"), { recursive: true });
    run(`${measure} ${QUICKLY}`, folder);
    const report = readFileSync(join(folder, "report.html"), "utf8");
    expect(report.match(/<svg/g)?.length).toBeGreaterThan(3);
  },
);
