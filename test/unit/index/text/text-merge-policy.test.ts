import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  TEXT_MERGE_MAX_DOCUMENTS,
  TEXT_MERGE_WHEN_BUSY,
  TEXT_MERGE_WHEN_IDLE,
} from "../../../../src/domain/limits.ts";
import { type Sized, segmentsOfLikeSize } from "../../../../src/index/text/text-merge-policy.ts";

const sized = (documentCount: number): Sized => ({ segment: { documentCount } });
const sizes = (all: readonly Sized[]) => all.map(({ segment }) => segment.documentCount);
const total = (all: readonly Sized[]) => sizes(all).reduce((sum, size) => sum + size, 0);

/** Adds segments of these sizes one by one and performs every merge that is due. */
function grown(added: readonly number[], policy: Parameters<typeof segmentsOfLikeSize>[1]) {
  let all: Sized[] = [];
  let written = 0;
  for (const size of added) {
    all.push(sized(size));
    for (let chosen = segmentsOfLikeSize(all, policy); chosen.length > 0; ) {
      all = [...all.filter((one) => !chosen.includes(one)), sized(total(chosen))];
      written += total(chosen);
      chosen = segmentsOfLikeSize(all, policy);
    }
  }
  return { all, written };
}

describe("merging segments of like size", () => {
  const additions = fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 600 });

  test("the merge policy keeps few segments and writes each document few times", () => {
    fc.assert(
      fc.property(additions, (added) => {
        const { all, written } = grown(added, TEXT_MERGE_WHEN_BUSY);
        const documents = added.reduce((sum, size) => sum + size, 0);
        const tiers = Math.log2(documents) + 2;
        expect(all.length).toBeLessThanOrEqual(TEXT_MERGE_WHEN_BUSY.count * tiers);
        expect(written).toBeLessThanOrEqual(documents * tiers);
        expect(total(all)).toBe(documents);
      }),
      { numRuns: 300 },
    );
  });

  test("an idle index keeps only segments of very different sizes", () => {
    fc.assert(
      fc.property(additions, (added) => {
        const { all } = grown(added, TEXT_MERGE_WHEN_IDLE);
        const left = sizes(all).toSorted((a, b) => a - b);
        for (let i = 1; i < left.length; i++) {
          const next = (left[i - 1] as number) * TEXT_MERGE_WHEN_IDLE.ratio;
          expect(left[i]).toBeGreaterThan(next);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a large segment is not rewritten for a small one", () => {
    expect(segmentsOfLikeSize([sized(10_000), sized(1)], TEXT_MERGE_WHEN_IDLE)).toEqual([]);
  });

  test("no merge exceeds the maximum number of documents", () => {
    const half = TEXT_MERGE_MAX_DOCUMENTS / 2 + 1;
    expect(segmentsOfLikeSize([sized(half), sized(half)], TEXT_MERGE_WHEN_IDLE)).toEqual([]);
  });
});
