import { describe, expect, test } from "bun:test";
import { readUpload } from "../../../src/api/imports/upload.ts";
import { Problem } from "../../../src/problem/problem.ts";
import { IMPORT_PACE_BYTES } from "../../../src/shared/limits.ts";

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
    expect(await outcome(NEVER, { maxBytes: 10, paceMs: 50 })).toMatchObject({
      slug: "request-timeout",
    });
    const drips = await outcome(dripping(1, 5), { maxBytes: 1_000_000, paceMs: 200 });
    expect(drips.slug).toBe("request-timeout");
    expect(drips.bytes).toBeGreaterThan(0);
  });

  test("that arrives late because the thread was busy is ended by the time limit, too", async () => {
    const busy = new ReadableStream<Uint8Array>({
      pull(controller) {
        const end = performance.now() + 60;
        while (performance.now() < end);
        controller.enqueue(new Uint8Array(1));
      },
    });
    const { slug } = await outcome(busy, { maxBytes: 10, paceMs: 50 });
    expect(slug).toBe("request-timeout");
  });

  test("that keeps its pace goes on, up to the limit of the whole", async () => {
    const bounds = { maxBytes: Number.MAX_SAFE_INTEGER, paceMs: 500, totalMs: 1_500 };
    const { bytes, slug } = await outcome(dripping(IMPORT_PACE_BYTES, 20), bounds);
    expect(slug).toBe("request-timeout");
    expect(bytes).toBeGreaterThan(IMPORT_PACE_BYTES * 5);
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
    for await (const piece of readUpload(body, { maxBytes: 100, paceMs: 200 })) {
      bytes += piece.byteLength;
      await Bun.sleep(150);
    }
    expect(bytes).toBe(30);
  });

  test("with more bytes than the limit is too large, and one that breaks cannot be read", async () => {
    const exceeded = await outcome(dripping(60, 1), { maxBytes: 100 });
    expect(exceeded).toEqual({ bytes: 60, slug: "payload-too-large" });
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.error(new Error("gone")),
    });
    expect(await outcome(broken, { maxBytes: 100 })).toEqual({
      bytes: 0,
      slug: "validation-failed",
    });
  });
});
