import { describe, test } from "bun:test";
import { LENGTH, SEED } from "../../../support/seed.ts";
import { operationsOf } from "../../fuzz/exchanges.ts";
import { fuzzOperation } from "../../fuzz/fuzz.ts";
import { startTarget } from "../../fuzz/target.ts";

const REQUESTS = 500;

const target = await startTarget();
const { document } = await target.api.contract();

describe("for hundreds of random requests an operation answers as documented, and never with a failure of its own", () => {
  for (const operation of operationsOf(document)) {
    test(operation.id, async () => {
      await fuzzOperation(
        target,
        operation,
        { seed: SEED, requests: REQUESTS * LENGTH },
        new Map(),
      );
    });
  }
});
