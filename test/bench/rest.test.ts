import { expect, test } from "bun:test";
import { PROJECT_ROOT } from "../../support/process.ts";

test("the benchmark of plain reads runs and compares all three with the bare handler", async () => {
  const program = Bun.spawn([process.execPath, "bench/rest/run.ts", "0.2", "1"], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([program.stdout.text(), program.stderr.text()]);
  expect(await program.exited, errors).toBe(0);
  const rows = [...output.matchAll(/^\| ([\w ,]+) \| \d+ \| \d+ \| \*\*\d+\.\d\d\*\* \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(["conversation", "message", "tree of 1,000"]);
});
