import { describe, test } from "bun:test";
import { LENGTH, SEED } from "../../../support/seed.ts";
import { fuzzParser, PARSERS } from "../../fuzz/parsers.ts";

const INPUTS = 2_000;

describe("of thousands of random inputs a parser reads each or says what is wrong, and ends", () => {
  for (const name of Object.keys(PARSERS)) {
    test(name, async () => {
      await fuzzParser(name, SEED, INPUTS * LENGTH);
    });
  }
});
