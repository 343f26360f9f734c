import { describe, test } from "bun:test";
import { SEED } from "../../support/seed.ts";
import { fuzzParser, PARSERS } from "./parsers.ts";

const INPUTS = 20;

describe("whatever it reads, a parser answers or says what is wrong, and ends", () => {
  for (const name of Object.keys(PARSERS)) {
    test(name, async () => {
      await fuzzParser(name, SEED, INPUTS);
    });
  }
});
