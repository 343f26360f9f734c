import { describe, expect, test } from "bun:test";
import { SEED } from "../../support/seed.ts";
import { fuzzParser, PARSERS } from "./parsers.ts";

const INPUTS = 100;

describe("whatever it reads, a parser answers or says what is wrong, and ends", () => {
  for (const name of Object.keys(PARSERS)) {
    test(name, async () => {
      expect(await fuzzParser(name, SEED, (inputs) => inputs < INPUTS)).toBe(INPUTS);
    });
  }
});
