import { expect, test } from "bun:test";
import { needs } from "../../../support/programs.ts";
import { SEED, seedNotice } from "../../../support/seed.ts";
import { cutPower, unexplained } from "./cuts.ts";
import { record } from "./recording.ts";

needs("strace");

const CHANGES = 8;

test("after a power cut every acknowledged change is there, no torn file is believed, and searches agree with the database", async () => {
  const recording = await record(SEED, CHANGES);
  expect(unexplained(recording)).toEqual([]);
  expect(await cutPower(recording, SEED), seedNotice).toEqual([]);
});
