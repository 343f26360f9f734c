import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDocument,
  buildSegment,
  emptyDocumentSet,
  InvalidSegmentError,
  mergeSegments,
  openSegment,
} from "../../../src/text/index.ts";
import { pathHash } from "../../../src/text/segment/shard.ts";
import { byteOrder, documentOf, someDocuments } from "./documents.ts";

function copyOf(buffer: ArrayBufferLike): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer).slice();
}

describe("segments", () => {
  test("a segment returns its documents in byte order of path", () => {
    fc.assert(
      fc.property(someDocuments, (documents) => {
        const segment = openSegment(buildSegment(documents));
        const stored = Array.from({ length: segment.documentCount }, (_, d) => ({
          id: segment.id(d),
          path: segment.path(d),
          title: segment.title(d),
          frontmatter: segment.frontmatter(d),
          hash: segment.pathHash(d),
        }));
        const expected = [...documents]
          .sort((a, b) => byteOrder(a.path, b.path))
          .map(({ id, path, title, frontmatter }) => ({
            id,
            path,
            title,
            frontmatter,
            hash: pathHash(Buffer.from(path)),
          }));
        expect(stored).toEqual(expected);
      }),
    );
  });

  test("a segment can be empty", () => {
    const segment = openSegment(buildSegment([]));
    expect(segment.documentCount).toBe(0);
    expect(openSegment(mergeSegments([{ segment, keep: null }]).buffer).documentCount).toBe(0);
  });

  test("a segment can be read from an ordinary buffer, as read from a file", () => {
    const bytes = copyOf(buildSegment([documentOf("a.md", { title: "Größe 検索" })]));
    expect(openSegment(bytes.buffer).title(0)).toBe("Größe 検索");
  });

  test("a segment with any bit flipped is refused", () => {
    const good = copyOf(buildSegment([documentOf("a.md", { content: "some words of text" })]));
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(7), (at, bit) => {
        const bytes = copyOf(good.buffer);
        bytes[at] = (bytes[at] as number) ^ (1 << bit);
        expect(() => openSegment(bytes.buffer)).toThrow(InvalidSegmentError);
      }),
    );
  });

  test("a truncated or extended segment is refused", () => {
    const good = copyOf(buildSegment([documentOf("a.md", { content: "some words of text" })]));
    for (let length = 0; length < good.length; length += 8) {
      expect(() => openSegment(good.slice(0, length).buffer)).toThrow(InvalidSegmentError);
    }
    const longer = new Uint8Array(good.length + 8);
    longer.set(good);
    expect(() => openSegment(longer.buffer)).toThrow(InvalidSegmentError);
  });

  test("arbitrary bytes are refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(() => openSegment(bytes.slice().buffer)).toThrow(InvalidSegmentError);
      }),
    );
  });

  test("merging segments gives the bytes of one segment that is built at once", () => {
    const words = ["wick", "lantern", "getOil", "Öl", "検索", "running", "runs", "🚀"];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((all) => all.join(" "));
    const entry = fc.record({
      title: text,
      content: text,
      value: text,
      part: fc.nat(3),
      kept: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 30 }), (entries) => {
        const documents = entries.map(({ title, content, value }, i) => {
          const frontmatter = [{ key: "tags", value }];
          return documentOf(`${i % 7}/${i}.md`, { title, content, frontmatter, headings: [title] });
        });
        const inputs = [0, 1, 2, 3].map((part) => {
          const own = documents.filter((_, i) => entries[i]?.part === part);
          const segment = openSegment(buildSegment(own));
          const keep = emptyDocumentSet(own.length);
          for (let d = 0; d < own.length; d++) {
            const index = documents.findIndex(({ path }) => path === segment.path(d));
            if (entries[index]?.kept) addDocument(keep, d);
          }
          return { segment, keep };
        });
        const kept = documents.filter((_, i) => entries[i]?.kept);
        const { buffer, numbers } = mergeSegments(inputs);
        if (kept.length > 0) expect(copyOf(buffer)).toEqual(copyOf(buildSegment(kept)));
        const merged = openSegment(buffer);
        for (const [i, { segment }] of inputs.entries()) {
          for (const [d, number] of (numbers[i] as Int32Array).entries()) {
            if (number >= 0) expect(merged.id(number)).toBe(segment.id(d));
          }
        }
        expect(numbers.flatMap((each) => [...each]).filter((n) => n >= 0)).toHaveLength(
          kept.length,
        );
      }),
    );
  });

  test("merging keeps the first of two documents with the same id", () => {
    const first = openSegment(buildSegment([documentOf("a.md", { title: "first" })]));
    const second = openSegment(buildSegment([documentOf("a.md", { title: "second" })]));
    const merged = openSegment(
      mergeSegments([
        { segment: first, keep: null },
        { segment: second, keep: null },
      ]).buffer,
    );
    expect([merged.documentCount, merged.title(0)]).toEqual([1, "first"]);
  });
});

const hashOf = (path: string) => pathHash(Buffer.from(path));

describe("path hashes", () => {
  test("the hash of a path never changes, because shards depend on it", () => {
    const hashes = ["", "a.md", "guide/backups.md", "検索/🚀.md"].map(hashOf);
    expect(hashes).toMatchInlineSnapshot(`
      [
        2872998923,
        3780330715,
        3424692747,
        1228201111,
      ]
    `);
  });

  test("path hashes spread paths evenly over shards", () => {
    const shards = new Array<number>(8).fill(0);
    for (let i = 0; i < 8_000; i++) {
      const shard = hashOf(`docs/page-${i}.md`) % 8;
      shards[shard] = (shards[shard] ?? 0) + 1;
    }
    for (const size of shards) expect(Math.abs(size - 1_000)).toBeLessThan(150);
  });
});
