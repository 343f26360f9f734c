import { describe, expect, test } from "bun:test";
import { SEED } from "../../support/seed.ts";
import { operationsOf } from "./exchanges.ts";
import { fuzzOperation } from "./fuzz.ts";
import { startTarget } from "./target.ts";

const REQUESTS = 10;
/** Rounds of requests until one has succeeded and one was refused; both are rare for some. */
const ROUNDS_MAX = 60;

const target = await startTarget();
const { document } = await target.api.contract();
const operations = operationsOf(document);

describe("for any request an operation answers as documented, and never with a failure of its own", () => {
  for (const operation of operations) {
    test(operation.id, async () => {
      const statuses = new Map<string, Map<number, number>>();
      const seen = (test: (status: number) => boolean) =>
        [...(statuses.get(operation.id)?.keys() ?? [])].some(test);
      const hasSucceeded = () => seen((status) => status < 300);
      const wasRefused = () => seen((status) => status >= 400);
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const options = { seed: SEED + round, requests: REQUESTS };
        await fuzzOperation(target, operation, options, statuses);
        if (hasSucceeded() && wasRefused()) break;
      }
      // Requests that get past all checks are among them, and such that do not.
      expect(hasSucceeded()).toBe(true);
      expect(wasRefused()).toBe(true);
    });
  }
});
