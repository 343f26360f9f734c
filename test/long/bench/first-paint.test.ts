import { expect, test } from "bun:test";
import { OPTIONS, run } from "../../../bench/console/first-paint.ts";
import { helpText } from "../../../bench/harness/options.ts";
import { needs } from "../../../support/programs.ts";
import { inProcess } from "./in-process.ts";

needs("chromium");

test("console/first-paint measures views after a first round, beside a line of HTML", async () => {
  expect(OPTIONS.rounds).toBeGreaterThan(1);
  const { context, written } = inProcess();
  const painted = await run({ rounds: 1, pages: "search,a guide" }, context);
  expect(written.errors).toBe("");
  expect(painted.map(({ page }) => page)).toEqual(["a line of HTML", "search", "a guide"]);
  for (const { page, firstPaint, contents } of painted) {
    expect(firstPaint, page).toBeGreaterThan(0);
    expect(contents, page).toBeGreaterThan(0);
    expect(written.out, page).toContain(`${firstPaint}`);
  }
});

test("the help of console/first-paint names all options", () => {
  const help = helpText("bench/console/first-paint.ts");
  for (const option of Object.keys(OPTIONS)) expect(help).toContain(`--${option}`);
});
