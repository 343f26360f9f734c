import { expect, test } from "bun:test";
import { plainChunks } from "../../../src/documents/markdown/index.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();

/** Every character of the first plane that is a blank anywhere, and neighbours that are none. */
const CODES = [
  ...Array.from({ length: 0x2100 }, (_, i) => i + 1),
  ...[0x3000, 0x3001, 0xfeff, 0xfffd],
];

test("the database knows of every character whether a text of it has chunks", async () => {
  const texts = CODES.map((code) => String.fromCharCode(code));
  const rows = await sql<{ text: string }[]>`
    SELECT text FROM unnest(${[...texts, "", " \n\ufeff", " \u00a0x"]}::text[]) AS text
    WHERE has_text(text)`;
  const expected = [...texts, " \u00a0x"].filter((text) => [...plainChunks(text)].length > 0);
  expect(new Set(rows.map(({ text }) => text))).toEqual(new Set(expected));
  expect(expected.every((text) => /\S/.test(text))).toBe(true);
});
