import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  buildSegment,
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
    expect(openSegment(mergeSegments([{ segment, keep: null }])).documentCount).toBe(0);
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

  test("merging keeps the first of two documents with the same id", () => {
    const first = openSegment(buildSegment([documentOf("a.md", { title: "first" })]));
    const second = openSegment(buildSegment([documentOf("a.md", { title: "second" })]));
    const merged = openSegment(
      mergeSegments([
        { segment: first, keep: null },
        { segment: second, keep: null },
      ]),
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
