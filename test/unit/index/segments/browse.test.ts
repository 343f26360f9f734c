import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pathsOf, searchText } from "../../../../support/text-search.ts";
import { byteOrder, dealtView, someDocuments } from "./documents.ts";

const scene = fc.record({
  documents: someDocuments,
  deal: fc.array(fc.nat(3), { minLength: 24, maxLength: 24 }),
  hidden: fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
  shardCount: fc.integer({ min: 1, max: 8 }),
  limit: fc.integer({ min: 1, max: 12 }),
});

describe("browsing", () => {
  test("browsing all pages of all shards lists every item in scope once, in byte order", () => {
    fc.assert(
      fc.property(scene, ({ documents, deal, hidden, shardCount, limit }) => {
        const shown = documents.filter((_, i) => !hidden[i]).map((document) => document.path);
        const view = dealtView(
          documents,
          (i) => deal[i] ?? 0,
          (path) => shown.includes(path),
        );
        const all: string[] = [];
        for (let shardIndex = 0; shardIndex < shardCount; shardIndex++) {
          const shard = { shardIndex, shardCount };
          const items: string[] = [];
          let progress = "";
          for (let more = true; more; ) {
            const page = searchText(view, null, { ...shard, limit, progress });
            expect(page.hits.length).toBeLessThanOrEqual(limit);
            items.push(...pathsOf(page.hits));
            ({ more, progress } = page);
            if (!more) expect(page.total).toBe(items.length);
          }
          expect(items).toEqual([...items].sort(byteOrder));
          all.push(...items);
        }
        expect(all.sort(byteOrder)).toEqual([...shown].sort(byteOrder));
      }),
    );
  });

  test("browsing continues after a path that no longer exists", () => {
    fc.assert(
      fc.property(someDocuments, fc.string(), (documents, after) => {
        const view = dealtView(
          documents,
          () => 0,
          () => true,
        );
        const expected = documents
          .map((document) => document.path)
          .filter((path) => byteOrder(path, after) > 0)
          .sort(byteOrder);
        expect(pathsOf(searchText(view, null, { progress: after }).hits)).toEqual(expected);
      }),
    );
  });
});
