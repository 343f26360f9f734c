import { expect, setDefaultTimeout, test } from "bun:test";
import { PROJECT_ROOT } from "../../support/process.ts";

setDefaultTimeout(120_000);

async function bench(...args: string[]): Promise<string> {
  const program = Bun.spawn([process.execPath, ...args], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([program.stdout.text(), program.stderr.text()]);
  expect(await program.exited, errors + output).toBe(0);
  return output;
}

test("deliveries through two processes, one of them killed, end in one event a key", async () => {
  const output = await bench("bench/webhooks/exactly-once.ts", "1000");
  expect(output).toEndWith("exactly once\n");
});

test("the benchmark of deliveries compares the service with both bare handlers", async () => {
  const output = await bench("bench/webhooks/throughput.ts", "0.2", "1");
  expect([
    ...output.matchAll(/^\| (\w[\w ,]+) \| \d+ \| \d+\.\d\d \| \d+\.\d\d \| \d+ \|/gm),
  ]).toHaveLength(4);
});
