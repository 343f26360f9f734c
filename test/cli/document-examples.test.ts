import { expect, test } from "bun:test";
import { jsonDifference, missingLine } from "./document-examples.ts";

const OUTPUT = `imported 74 records in 0.9 s (85 records/s): 1 project, 72 files
API key:   tsr_sOWhT3MFNPXL_BvZZq1   until 2026-12-21
0.9965  concepts/releases.md#2`;

test("an example of a terminal may differ in keys, dates and durations, and in nothing else", () => {
  const same = `imported 74 records in 12 s (6 records/s): 1 project, 72 files
API key: tsr_aaaaaaaaaaaa_bbbbbbb until 2030-01-01
0.9965  concepts/...`.replaceAll("key: tsr", "key:   tsr");
  expect(missingLine(OUTPUT, same.replace("bbbbbbb until", "bbbbbbb   until"))).toBeUndefined();
  for (const [right, wrong] of [
    ["74 records", "13 records"],
    ["72 files", "11 files"],
    ["0.9965", "3.45"],
    ["#2", "#16"],
  ] as const) {
    expect(missingLine(OUTPUT, OUTPUT.replace(right, wrong)), wrong).toContain(wrong);
  }
  const lines = OUTPUT.split("\n");
  expect(missingLine(OUTPUT, lines.reverse().join("\n"))).toBe(lines[1] as string);
});

test("an example of an answer may leave out members, and differ in ids, times and further decimals, and in nothing else", () => {
  const answer = JSON.stringify({
    data: [{ id: "036e4212-baf9-52df-a76f-c3d378dc42e4", score: 0.996538105, file: "a.md" }],
    page_info: { next: "s9DRFuT1", prev: null },
    search_time_ms: 1.5,
    total_matches: 35,
  });
  const example = `{"data": [{"id": "11111111-baf9-52df-a76f-c3d378dc42e4", "score": 0.9965, ...}, ...],
    "page_info": {"next": "other", "prev": null}, "search_time_ms": 0.1, "total_matches": 35}`;
  expect(jsonDifference(answer, example)).toBeUndefined();
  for (const [right, wrong] of [
    ["35", "36"],
    ["0.9965", "0.9966"],
    ['"prev": null', '"prev": "x"'],
    ['"score"', '"rank"'],
    ['"id"', '"file": "b.md", "id"'],
    ['"next": "other"', '"next": null'],
  ] as const) {
    expect(jsonDifference(answer, example.replace(right, wrong)), wrong).toBeString();
  }
  expect(jsonDifference('{"a": 1, "b": 2}', '{"a": 1}')).toBe("the answer has b as well");
});
