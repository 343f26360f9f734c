import { describe, expect, test } from "bun:test";
import { SEED } from "../../support/seed.ts";
import { operationsOf } from "./exchanges.ts";
import { fuzzOperation } from "./fuzz.ts";
import { startTarget } from "./target.ts";

const REQUESTS = 100;

const target = await startTarget();
const { document } = await target.api.contract();
const operations = operationsOf(document);

describe("for any request an operation answers as documented, and never with a failure of its own", () => {
  for (const operation of operations) {
    test(operation.id, async () => {
      const statuses = new Map<string, Map<number, number>>();
      await fuzzOperation(target, operation, { seed: SEED, requests: REQUESTS }, statuses);
      const seen = [...(statuses.get(operation.id)?.keys() ?? [])];
      // Requests that get past all checks are among them, and such that do not.
      expect(seen.some((status) => status < 300)).toBe(true);
      expect(seen.some((status) => status >= 400)).toBe(true);
    });
  }
});
