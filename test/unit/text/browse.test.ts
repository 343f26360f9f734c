import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { browse, countInShard } from "../../../src/text/index.ts";
import { byteOrder, dealtView, pathsOf, someDocuments } from "./documents.ts";

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
          while (true) {
            const after = items.at(-1);
            const request = { ...shard, limit, ...(after === undefined ? {} : { after }) };
            const page = pathsOf(view, browse(view, request));
            if (page.length === 0) break;
            expect(page.length).toBeLessThanOrEqual(limit);
            items.push(...page);
          }
          expect(items).toEqual([...items].sort(byteOrder));
          expect(countInShard(view, shard)).toBe(items.length);
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
        const request = { after, limit: documents.length + 1, shardIndex: 0, shardCount: 1 };
        const expected = documents
          .map((document) => document.path)
          .filter((path) => byteOrder(path, after) > 0)
          .sort(byteOrder);
        expect(pathsOf(view, browse(view, request))).toEqual(expected);
      }),
    );
  });
});
