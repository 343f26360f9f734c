import { expect, test } from "bun:test";
import { Refusals } from "../../../src/http/refusals.ts";
import type { Log } from "../../../src/observability/log.ts";
import { OVERLOADED, problemBody } from "../../../src/problem/problem.ts";

function world(options: ConstructorParameters<typeof Refusals>[2]) {
  const lines: unknown[] = [];
  const log = { warn: (fields: unknown) => lines.push(fields) } as unknown as Log;
  return { refusals: new Refusals("http://base", log, options), lines };
}

test("a refusal is the problem document of the request, with Retry-After", async () => {
  const { refusals } = world({ atOnce: 1 });
  const response = (await refusals.respond("some-id")) as Response;
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(response.headers.get("x-request-id")).toBe("some-id");
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(await response.json()).toEqual(problemBody(OVERLOADED, "http://base", "some-id"));
});

test("a few refusals are sent at once, more wait, and too many are sent at once again", async () => {
  const { refusals } = world({ atOnce: 2, pauseMs: 40, maxWaiting: 3 });
  const startedAt = performance.now();
  const answers = Array.from({ length: 7 }, (_, i) => refusals.respond(`r${i}`));
  expect(answers.map((answer) => answer instanceof Promise)).toEqual([
    ...[false, false, true, true, true, false, false],
  ]);
  const ids = (await Promise.all(answers)).map((answer) => answer.headers.get("x-request-id"));
  expect(ids).toEqual(answers.map((_, i) => `r${i}`));
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(40);
});

test("thousands of refusals write one line, without a stack", () => {
  const { refusals, lines } = world({ atOnce: 10_000 });
  for (let i = 0; i < 5_000; i++) refusals.respond(`r${i}`);
  expect(lines.length).toBeLessThanOrEqual(2);
  expect(JSON.stringify(lines)).not.toContain("stack");
});
