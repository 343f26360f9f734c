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

test("the printed seed repeats the random choices of an earlier process", async () => {
  const first = await draw(undefined);
  const seed = /TESSERA_TEST_SEED=(\d+)/.exec(first)?.[1];
  expect(await draw(seed)).toBe(first);
  expect(await draw("7")).not.toBe(first);
});
