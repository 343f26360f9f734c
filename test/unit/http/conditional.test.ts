import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { conditionalJson, entityTag, isCurrent } from "../../../src/http/conditional.ts";

describe("entity tags", () => {
  test("are strong, quoted, and the same for the same text as for its bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const tag = entityTag(text);
        expect(tag).toMatch(/^"[0-9a-z]+-[0-9a-z]+"$/);
        expect(entityTag(new TextEncoder().encode(text))).toBe(tag);
      }),
    );
  });

  test("differ for texts that differ", () => {
    const tags = new Set(Array.from({ length: 10_000 }, (_, i) => entityTag(`{"seq":${i}}`)));
    expect(tags.size).toBe(10_000);
  });
});

describe("If-None-Match", () => {
  const tag = entityTag("text");

  test("names the tag alone, in a list, weakly, or by a star", () => {
    for (const header of [tag, ` ${tag} `, `"a", ${tag},"b"`, `W/${tag}`, `"a,b", W/${tag}`, "*"]) {
      expect(isCurrent(header, tag), header).toBe(true);
    }
  });

  test("that names others, or is no list of tags, names nothing", () => {
    for (const header of [null, "", '"a"', tag.slice(1, -1), "**", `"*"`, `"x${tag.slice(1)}`]) {
      expect(isCurrent(header, tag), String(header)).toBe(false);
    }
  });

  test("that is current is answered 304 without a body, else with the whole text", async () => {
    const ask = (header: string) =>
      conditionalJson(
        new Request("http://localhost/", { headers: { "if-none-match": header } }),
        "text",
      );
    const current = ask(tag);
    expect([current.status, await current.text()]).toEqual([304, ""]);
    expect(current.headers.get("etag")).toBe(tag);
    const other = ask('"other"');
    expect([other.status, await other.text()]).toEqual([200, "text"]);
    expect(other.headers.get("cache-control")).toContain("private");
  });
});
