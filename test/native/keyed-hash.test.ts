import { expect, test } from "bun:test";
import { join } from "node:path";
import { sipHash } from "../../native/testing.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** The key of the hashes that were published with the function. */
const KEY = Uint8Array.from({ length: 16 }, (_, i) => i);
const ZERO = new Uint8Array(16);
/** Of messages 00 01 02 .. With the key zero they are CPython's `hash(bytes(range(length)))`, if PYTHONHASHSEED is 0. */
const KNOWN = [
  ["2-4", KEY, 0, 0x726fdb47dd0e0e31n],
  ["2-4", KEY, 1, 0x74f839c593dc67fdn],
  ["2-4", KEY, 2, 0x0d6c8009d9a94f5an],
  ["2-4", KEY, 7, 0xab0200f58b01d137n],
  ["2-4", KEY, 8, 0x93f5f5799a932462n],
  ["2-4", KEY, 15, 0xa129ca6149be45e5n],
  ["2-4", KEY, 63, 0x958a324ceb064572n],
  ["1-3", KEY, 0, 0xabac0158050fc4dcn],
  ["1-3", ZERO, 1, 0x68a914128e01e473n],
  ["1-3", ZERO, 7, 0x2f098ab0c751325an],
  ["1-3", ZERO, 8, 0xead411e67ebe2eean],
  ["1-3", ZERO, 63, 0x385d3e39e5f37359n],
] as const;

for (const [rounds, key, length, hash] of KNOWN) {
  test(`SipHash-${rounds} of ${length} bytes is what other implementations compute`, () => {
    const message = Uint8Array.from({ length }, (_, i) => i);
    expect(sipHash(rounds, key, message)).toBe(hash);
  });
}

test("no process hashes as another one, so nobody can make keys that collide", async () => {
  const script = `
    import { sipHash } from ${JSON.stringify(join(PROJECT_ROOT, "native/testing.ts"))};
    process.stdout.write(String(sipHash("1-3", undefined, new Uint8Array(8))));`;
  const hashes = await Promise.all(
    [1, 2].map(async () => await Bun.$`${process.execPath} --eval ${script}`.text()),
  );
  const own = () => String(sipHash("1-3", undefined, new Uint8Array(8)));
  expect(own()).toBe(own());
  expect(new Set([...hashes, own()]).size).toBe(3);
});
