import { expect, test } from "bun:test";
import fc from "fast-check";
import { WordTable } from "../../../src/text/analysis/word-table.ts";

const unitsOf = (text: string) =>
  Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));

/** Short words of few letters, which often start alike or are equal, and others. */
const word = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "z", "1", "é", "検"), minLength: 1, maxLength: 5 }),
  fc.stringMatching(/^[a-z0-9]{1,12}$/),
);

test("a table finds exactly its words, in upper case too, whatever it held before", () => {
  const table = new WordTable();
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { maxLength: 1_500, size: "max" }),
      fc.array(word, { maxLength: 50 }),
      (words, others) => {
        for (const [i, each] of words.entries()) table.add(unitsOf(each), 0, each.length, i + 1);
        for (const each of [...words, ...others]) {
          const number = words.indexOf(each) + 1;
          const units = unitsOf(`..${each.replace(/[a-z]/g, (letter) => letter.toUpperCase())}.`);
          expect(table.find(units, 2, units.length - 1)).toBe(number);
          expect(table.findText(each)).toBe(number);
        }
        table.clear();
        for (const each of words) expect(table.findText(each)).toBe(0);
      },
    ),
    { numRuns: 30 },
  );
});

test("a word that is longer than any term is not found", () => {
  const table = new WordTable();
  table.add(unitsOf("a"), 0, 1, 1);
  expect(table.findText("a".repeat(10_000))).toBe(0);
});
