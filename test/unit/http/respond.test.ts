import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { conditionalText, entityTag, isCurrent } from "../../../src/http/respond.ts";

describe("entity tags", () => {
  test("entity tags are strong, quoted, and the same for a text and its bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const tag = entityTag(text);
        expect(tag).toMatch(/^"[0-9a-z]+-[0-9a-z]+"$/);
        expect(entityTag(new TextEncoder().encode(text))).toBe(tag);
      }),
    );
  });

  test("entity tags differ for texts that differ", () => {
    const tags = new Set(Array.from({ length: 10_000 }, (_, i) => entityTag(`{"seq":${i}}`)));
    expect(tags.size).toBe(10_000);
    const long = "x".repeat(1_000_000);
    expect(entityTag(`${long}a`)).not.toBe(entityTag(`${long}b`));
  });
});

describe("If-None-Match", () => {
  const tag = entityTag("text");

  test("If-None-Match matches a tag alone, in a list, as a weak tag, or by a star", () => {
    for (const header of [tag, ` ${tag} `, `"a", ${tag},"b"`, `W/${tag}`, `"a,b", W/${tag}`, "*"]) {
      expect(isCurrent(header, tag), header).toBe(true);
    }
  });

  test("If-None-Match with other tags, or without any, does not match", () => {
    for (const header of [null, "", '"a"', tag.slice(1, -1), "**", `"*"`, `"x${tag.slice(1)}`]) {
      expect(isCurrent(header, tag), String(header)).toBe(false);
    }
  });

  test("a current tag is answered with 304 and no body, any other with the whole text", async () => {
    const ask = (header: string) =>
      conditionalText(
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
