import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bestScoreOf } from "../../../../src/query/retrieve/service.ts";

const bytesOf = (answer: object) => new TextEncoder().encode(JSON.stringify(answer));
const score = fc.double({ min: 0, max: 1, noNaN: true });
/** Texts that look like parts of an answer. */
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('"score":0.9', '\\"', "\\", '\\\\",', "]}", '{"score":1}', "é漢🙂"),
);
const metadata = fc.oneof(
  fc.jsonValue(),
  fc.record({ score, data: fc.array(fc.record({ score, note: text })), [`"score":`]: text }),
);
const hit = fc.record(
  { chunk: fc.option(fc.record({ content: text, metadata })), score, match_type: text },
  { requiredKeys: ["chunk", "score"] },
);

describe("the best score of an answer", () => {
  test("is that of its first hit, whatever texts and metadata the hit has", () => {
    fc.assert(
      fc.property(fc.array(hit), metadata, (data, facets) => {
        const json = bytesOf({ data, page_info: { score: 1 }, facets });
        expect(bestScoreOf(json)).toBe(data[0]?.score ?? 0);
      }),
    );
  });

  test("is that of its first group, and not of a hit in it", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ file: metadata, score, hits: fc.array(hit) })), (data) => {
        expect(bestScoreOf(bytesOf({ data }))).toBe(data[0]?.score ?? 0);
      }),
    );
  });
});
