import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Line, readLines } from "../../../../src/content/import/records/lines.ts";

const MAX_BYTES = 40;

/** Splits bytes at the given positions, even inside characters and line breaks. */
async function* cut(bytes: Uint8Array, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort(
    (a, b) => a - b,
  );
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.slice(from, end);
    from = end;
  }
}

async function linesOf(text: string, places: readonly number[] = []): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(cut(Buffer.from(text), places), MAX_BYTES)) {
    lines.push(...some);
  }
  return lines;
}

const textOf = ({ bytes }: Line) => (bytes === null ? null : Buffer.from(bytes).toString());

const line = fc
  .string({ unit: fc.constantFrom("a", "é", "漢", "🙂", " ", "\t", '"', "\u0000") })
  .filter((text) => Buffer.byteLength(text) < MAX_BYTES - 2);
const filled = line.map((text) => `${[...text].slice(1).join("")}x`);
const isBlank = (text: string) => /^[ \t]*$/.test(text);
const breaks = fc.constantFrom("\n", "\r\n");
const places = fc.array(fc.nat(2_000), { maxLength: 60 });

describe("reading lines", () => {
  test("returns the same lines but blank ones wherever the stream is split, with LF or CR LF", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(line, breaks)), places, async (lines, cuts) => {
        const text = lines.map(([content, end]) => content + end).join("");
        const read = await linesOf(text, cuts);
        const kept = lines.flatMap(([content], i) =>
          isBlank(content) ? [] : [{ number: i + 1, text: content }],
        );
        expect(read.map((line) => ({ number: line.number, text: textOf(line) }))).toEqual(kept);
      }),
    );
  });

  test("returns a last line without a line break, but no empty last line", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), line, places, async (lines, last, cuts) => {
        const text = lines.map((content) => `${content}\n`).join("") + last;
        const read = await linesOf(text, cuts);
        expect(read.map(textOf)).toEqual([...lines, last].filter((text) => !isBlank(text)));
      }),
    );
  });

  test("skips and counts a line that is too long, wherever the stream is split", async () => {
    const long = fc.integer({ min: MAX_BYTES + 1, max: 4 * MAX_BYTES });
    await fc.assert(
      fc.asyncProperty(filled, long, filled, places, async (before, length, after, cuts) => {
        const read = await linesOf(`${before}\n${"x".repeat(length)}\n${after}\n`, cuts);
        expect(read.map(textOf)).toEqual([before, null, after]);
        expect(read.map(({ number }) => number)).toEqual([1, 2, 3]);
      }),
    );
  });

  test("accepts a line of exactly the maximum length, and not one byte more", async () => {
    expect((await linesOf(`${"x".repeat(MAX_BYTES)}\n`)).map(textOf)).toEqual([
      "x".repeat(MAX_BYTES),
    ]);
    expect((await linesOf("x".repeat(MAX_BYTES + 1))).map(textOf)).toEqual([null]);
  });
});
