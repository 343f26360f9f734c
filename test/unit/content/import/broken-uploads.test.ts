import { describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync } from "node:zlib";
import { expanded } from "../../../../src/content/import/thread/run-job.ts";
import type { Encoding } from "../../../../src/ops/compression/decompressed.ts";
import { randomNumbers } from "../../../../support/random.ts";

const random = randomNumbers(11);

/** Lines that compress to a few hundred bytes. */
function lines(count: number): Uint8Array<ArrayBuffer> {
  const text = Array.from({ length: count }, () => `{"a":"${random().toString(36)}"}\n`);
  return new TextEncoder().encode(text.join(""));
}

const pack = {
  gzip: (bytes: Uint8Array<ArrayBuffer>) => Bun.gzipSync(bytes),
  zstd: (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(Bun.zstdCompressSync(bytes)),
};

/** Formats of one member, behind whose end nothing may follow. */
const packOne = { deflate: deflateSync, br: brotliCompressSync };

/** How many bytes a body expands to; undefined when it is refused. */
async function expansion(encoding: Encoding, body: Uint8Array): Promise<number | undefined> {
  async function* pieces() {
    for (let at = 0; at < body.length; at += 50) yield body.subarray(at, at + 50);
  }
  let bytes = 0;
  try {
    const upload = { encoding, maxBytes: 1_000_000, requireClient() {} };
    for await (const piece of expanded(pieces(), upload)) bytes += piece.byteLength;
    return bytes;
  } catch {
    return undefined;
  }
}

describe("a compressed upload of one member or several", () => {
  test.each(["gzip", "zstd"] as const)(
    "with %s is whole only where a member ends, whichever byte it was cut at",
    async (encoding) => {
      const [first, empty, last] = [lines(9), lines(0), lines(7)] as const;
      const members = [first, empty, last].map(pack[encoding]);
      const body = Buffer.concat(members);
      const wholes = new Map<number, number>();
      let [end, bytes] = [0, 0];
      for (const [i, member] of members.entries()) {
        end += member.length;
        bytes += [first, empty, last][i]?.length as number;
        wholes.set(end, bytes);
      }
      for (let cut = 0; cut <= body.length; cut++) {
        const expanded = await expansion(encoding, body.subarray(0, cut));
        expect([cut, expanded]).toEqual([cut, wholes.get(cut)]);
      }
    },
  );
});

test.each(["deflate", "br"] as const)(
  "an upload in %s is whole only where it ends, whichever byte it was cut at and whatever follows",
  async (encoding) => {
    const plain = lines(9);
    const body = packOne[encoding](plain);
    for (let cut = 0; cut < body.length; cut++) {
      expect([cut, await expansion(encoding, body.subarray(0, cut))]).toEqual([cut, undefined]);
    }
    expect(await expansion(encoding, body)).toBe(plain.length);
    expect(await expansion(encoding, Buffer.concat([body, body]))).toBeUndefined();
  },
);
