import { expect, test } from "bun:test";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";
import { SEED_VARIABLE } from "../../../support/seed.ts";

const PROGRAM = `
  const { random, seedNotice } = await import("./support/seed.ts");
  console.log(seedNotice, random());
`;

async function draw(seed: string | undefined): Promise<string> {
  const program = Bun.spawn([process.execPath, "-e", PROGRAM], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, [SEED_VARIABLE]: seed },
    stdout: "pipe",
  });
  return await program.stdout.text();
}

test("without a seed all processes choose the same, and the printed seed repeats what another one chose", async () => {
  const [first, second] = [await draw(undefined), await draw(undefined)];
  expect(second).toBe(first);
  const other = await draw("7");
  expect(other).not.toBe(first);
  const seed = /TESSERA_TEST_SEED=(\d+)/.exec(other)?.[1];
  expect(await draw(seed)).toBe(other);
});
