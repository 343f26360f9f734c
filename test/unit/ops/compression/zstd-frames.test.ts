import { describe, expect, test } from "bun:test";
import { constants, createZstdCompress } from "node:zlib";
import { wholeFrames } from "../../../../src/ops/compression/zstd-frames.ts";
import { randomNumbers } from "../../../../support/random.ts";

const random = randomNumbers(7);
const noise = Uint8Array.from({ length: 150_000 }, () => random() * 256);
const text = new TextEncoder().encode("a line of text that repeats itself\n".repeat(5_000));
const run = new Uint8Array(200_000);

/** Some compressors end with it. What lacks it is whole. */
const EMPTY_FRAMES = ["28b52ffd2000010000", "28b52ffd240001000099e9d851"].map((hex) =>
  Buffer.from(hex, "hex"),
);

async function compressed(bytes: Uint8Array, params: Record<number, number> = {}) {
  const stream = createZstdCompress({ params });
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  const ended = new Promise((resolve) => stream.on("end", resolve));
  for (let at = 0; at < bytes.length; at += 50_000) stream.write(bytes.subarray(at, at + 50_000));
  stream.end();
  await ended;
  const frames = Buffer.concat(pieces);
  const end = EMPTY_FRAMES.find((frame) => frames.subarray(-frame.length).equals(frame));
  return frames.subarray(0, frames.length - (end?.length ?? 0));
}

/** The input in pieces of this size, as it comes through; rejects when it is not whole. */
async function through(input: Uint8Array, size = 65_536): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < input.length; at += size) yield input.subarray(at, at + size);
  }
  const passed: Uint8Array[] = [];
  for await (const piece of wholeFrames(pieces())) passed.push(piece);
  return Buffer.concat(passed);
}

const frames: Array<[name: string, frame: Uint8Array]> = [];
for (const [name, bytes] of Object.entries({ noise, text, run, one: run.subarray(0, 1) })) {
  frames.push([`${name}, of known size`, new Uint8Array(Bun.zstdCompressSync(bytes))]);
  frames.push([`${name}, streamed`, await compressed(bytes)]);
  const params = { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 19 };
  frames.push([`${name}, with a checksum`, await compressed(bytes, params)]);
}
const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

describe("zstd frames", () => {
  test.each(frames)("%s: the whole passes unchanged, in pieces of any size", async (_, frame) => {
    for (const size of [1, 3, 7, 65_536]) {
      expect((await through(frame, size)).equals(frame)).toBe(true);
    }
    const several = Buffer.concat([skippable, frame, frame, skippable, frame]);
    expect((await through(several, 11)).equals(several)).toBe(true);
  });

  test.each(frames)("%s: what lacks its end is refused, wherever it was cut", async (_, frame) => {
    const cuts = new Set([0, 1, 3, 4, 5, 6, 9, frame.length - 1, frame.length - 4]);
    for (let i = 0; i < 10; i++) cuts.add(Math.floor(random() * frame.length));
    for (const cut of cuts) {
      if (cut < 0 || cut >= frame.length) continue;
      const error = await through(frame.subarray(0, cut)).catch((error: Error) => error.message);
      expect(error).toBe("unexpected end of file");
      if (cut === 0) continue;
      const second = Buffer.concat([frame, frame.subarray(0, cut)]);
      expect(await through(second).catch((error: Error) => error.message)).toBe(
        "unexpected end of file",
      );
    }
  });

  test("what follows a frame and is none is refused", async () => {
    const frame = frames[0]?.[1] as Uint8Array;
    for (const rest of [
      [0, 0, 0, 0],
      [1, 2, 3, 4, 5],
      [0x1f, 0x8b, 8, 0],
    ]) {
      const input = Buffer.concat([frame, Uint8Array.from(rest)]);
      expect(await through(input).catch((error: Error) => error.message)).toBe("is not zstd");
    }
  });
});
