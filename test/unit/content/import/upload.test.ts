import { describe, expect, spyOn, test } from "bun:test";
import { readUpload } from "../../../../src/content/import/upload.ts";
import { IMPORT_PACE_BYTES } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

/** A body that sends a piece of this size per interval, without end. */
function dripping(bytes: number, everyMs: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(everyMs);
      controller.enqueue(new Uint8Array(bytes));
    },
  });
}

async function outcome(body: ReadableStream<Uint8Array>, bounds: Parameters<typeof readUpload>[1]) {
  let bytes = 0;
  try {
    for await (const piece of readUpload(body, bounds)) bytes += piece.byteLength;
    return { bytes, slug: null };
  } catch (error) {
    return { bytes, slug: error instanceof Problem ? error.slug : String(error) };
  }
}

const NEVER: ReadableStream<Uint8Array> = new ReadableStream({});

describe("an upload of an import", () => {
  test("that stops or only drips is ended by the time limit", async () => {
    const stopped = outcome(NEVER, { maxBytes: 10, paceMs: 50 });
    await advance(50);
    expect(await stopped).toEqual({ bytes: 0, slug: "request-timeout" });
    const drips = outcome(dripping(1, 5), { maxBytes: 1_000_000, paceMs: 202 });
    await advance(202);
    expect(await drips).toEqual({ bytes: 40, slug: "request-timeout" });
  });

  test("that arrives late because the thread was busy is ended by the time limit, too", async () => {
    // The time of the thread, in which timers do not fire.
    const clock = spyOn(performance, "now");
    let now = 0;
    clock.mockImplementation(() => now);
    const busy = new ReadableStream<Uint8Array>({
      pull(controller) {
        now += 60;
        controller.enqueue(new Uint8Array(1));
      },
    });
    const { slug } = await outcome(busy, { maxBytes: 10, paceMs: 50 });
    clock.mockRestore();
    expect(slug).toBe("request-timeout");
  });

  test("that keeps its pace goes on, up to the limit of the whole", async () => {
    const bounds = { maxBytes: Number.MAX_SAFE_INTEGER, paceMs: 500, totalMs: 1_500 };
    const steady = outcome(dripping(IMPORT_PACE_BYTES, 400), bounds);
    await advance(1_500);
    expect(await steady).toEqual({ bytes: 3 * IMPORT_PACE_BYTES, slug: "request-timeout" });
  });

  test("does not pay for the time that the import takes", async () => {
    const pieces = [1, 2, 3].map(() => new Uint8Array(10));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    let bytes = 0;
    const imported = (async () => {
      for await (const piece of readUpload(body, { maxBytes: 100, paceMs: 200 })) {
        bytes += piece.byteLength;
        await Bun.sleep(150);
      }
    })();
    await advance(3 * 150);
    await imported;
    expect(bytes).toBe(30);
  });

  test("with more bytes than the limit is too large, and one that breaks cannot be read", async () => {
    const exceeding = outcome(dripping(60, 1), { maxBytes: 100 });
    await advance(2);
    expect(await exceeding).toEqual({ bytes: 60, slug: "payload-too-large" });
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error("gone")),
    });
    expect(await outcome(broken, { maxBytes: 100 })).toEqual({
      bytes: 0,
      slug: "validation-failed",
    });
  });
});
