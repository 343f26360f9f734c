import { beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { codeOf, filesOf, ROOT } from "./sources.ts";

interface Found {
  readonly patterns: readonly string[];
  readonly expressions: readonly { readonly source: string; readonly flags: string }[];
}
let found: Found;

beforeAll(async () => {
  const child = Bun.spawn([process.execPath, "test/meta/patterns.ts"], { cwd: ROOT });
  found = JSON.parse(await new Response(child.stdout).text());
});

describe("patterns of schemas", () => {
  test("every pattern means the same to the service and to validators of JSON Schema, which use the flag u", () => {
    for (const source of found.patterns) {
      expect(source).not.toMatch(/\\[pP]/);
      expect(() => new RegExp(source, "u"), source).not.toThrow();
    }
    expect(found.patterns).not.toBeEmpty();
  });

  test("every pattern accepts and refuses the same texts in the service and in such a validator", () => {
    const units = [
      "a",
      "C",
      "0",
      "9",
      "-",
      ".",
      "_",
      "/",
      ":",
      "@",
      '"',
      "{",
      " ",
      "\n",
      "\0",
      "ü",
      "🚀",
    ];
    const texts = fc.string({ unit: fc.constantFrom(...units), maxLength: 12 });
    for (const pattern of found.patterns) {
      const schema = Type.String({ pattern });
      const [compiled, byUnicode] = [TypeCompiler.Compile(schema), new RegExp(pattern, "u")];
      // fast-check cannot make texts that a lookahead allows.
      const hasLookahead = /\(\?[=!]/.test(pattern);
      const matching = hasLookahead ? texts : fc.stringMatching(byUnicode);
      fc.assert(
        fc.property(fc.oneof(texts, matching), (text) => {
          const isAccepted = byUnicode.test(text);
          expect([compiled.Check(text), Value.Check(schema, text)]).toEqual([
            isAccepted,
            isAccepted,
          ]);
        }),
      );
    }
  });
});

describe("regular expressions", () => {
  test("none that is made of a string has a class of Unicode without the flag that gives it a meaning", () => {
    const faults = found.expressions.filter(
      ({ source, flags }) => /\\[pP]\{/.test(source) && !/[uv]/.test(flags),
    );
    expect(faults).toEqual([]);
    expect(found.expressions).not.toBeEmpty();
  });

  test("none that is written as such has a class of Unicode without the flag that gives it a meaning", () => {
    const literal = /\/(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n[])+\/([a-z]*)/g;
    const written = filesOf("{src,client,workers,native}/**/*.{ts,tsx}").flatMap((file) =>
      [...codeOf(file).matchAll(literal)].filter(([text]) => /(?<!\\)\\[pP]\{/.test(text)),
    );
    expect(written.filter(([, flags = ""]) => !/[uv]/.test(flags))).toEqual([]);
    expect(written).not.toBeEmpty();
  });
});
