import { expect, test } from "bun:test";
import { helpText } from "../../../bench/harness/options.ts";
import { OPTIONS, run } from "../../../bench/nodes/outages.ts";
import { lacks } from "../../../support/programs.ts";
import { inProcess } from "./in-process.ts";

test.skipIf(lacks("redis-server"))(
  "faults of a database, a cache, an embedder and a thread end, and nothing fails but with 503",
  async () => {
    const { context, written } = inProcess();
    const found = await run({ ...OPTIONS, chunks: 40, away: 0.1, after: 1 }, context);
    expect(written.out).not.toMatch(/NaN|undefined|Infinity/);
    expect(new Set(found.map(({ fault }) => fault)).size).toBe(5);
    for (const { fault, kind, asked, failed } of found) {
      expect(asked, `${fault}, ${kind}`).toBeGreaterThan(0);
      expect(failed, `${fault}, ${kind}`).toBe(0);
    }
  },
);

test("the help of the outages names all options", () => {
  const help = helpText("bench/nodes/outages.ts");
  for (const option of Object.keys(OPTIONS)) expect(help).toContain(`--${option} `);
});
