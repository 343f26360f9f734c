import { describe, expect, test } from "bun:test";
import { LargeBodies } from "../../../../src/http/load/large-bodies.ts";
import { LARGE_BODY_BYTES } from "../../../../src/shared/limits.ts";

const BLOCKED_MS = 10;

function block(): void {
  const end = performance.now() + BLOCKED_MS;
  while (performance.now() < end);
}

describe("large bodies", () => {
  test("of one tenant are taken up one at a time and leave most of the time to others", async () => {
    const bodies = new LargeBodies();
    const begun = performance.now();
    const taken: number[] = [];
    const take = async (body: number) => {
      await bodies.turn("heavy", LARGE_BODY_BYTES);
      taken.push(body);
      block();
    };
    await Promise.all(Array.from({ length: 5 }, (_, body) => take(body)));
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    // Four pauses of four times as long as each body has taken, besides the bodies themselves.
    expect(performance.now() - begun).toBeGreaterThanOrEqual((5 + 4 * 4) * BLOCKED_MS);
  });

  test("of one tenant keep neither small ones nor those of another waiting", async () => {
    const bodies = new LargeBodies();
    expect(bodies.turn("heavy", LARGE_BODY_BYTES)).toBeUndefined();
    const waiting = bodies.turn("heavy", LARGE_BODY_BYTES);
    expect(waiting).toBeInstanceOf(Promise);
    expect(bodies.turn("heavy", LARGE_BODY_BYTES - 1)).toBeUndefined();
    expect(bodies.turn("other", LARGE_BODY_BYTES)).toBeUndefined();
    await waiting;
  });
});
