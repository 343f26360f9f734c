import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  checksum,
  generateKey,
  hashKey,
  looksLikeKey,
  parseKey,
} from "../../../src/auth/key-format.ts";
import { API_KEY_CHECKSUM_CHARS } from "../../../src/domain/limits.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base62 = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...BASE62), minLength, maxLength });

function fromBase62(text: string): number {
  return [...text].reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

describe("API keys", () => {
  test("a generated key has the documented form and parses to its public prefix", () => {
    const key = generateKey();
    expect(key).toMatch(/^tsr_[0-9A-Za-z]{8,}_[0-9A-Za-z]{32,}$/);
    expect(parseKey(key)?.keyPrefix).toBe(key.split("_").slice(0, 2).join("_"));
    expect(parseKey(key)?.hash).toEqual(hashKey(key));
  });

  test("the checksum is the CRC-32 of everything before it, in base62 with leading zeros", () => {
    fc.assert(
      fc.property(base62(0, 80), (text) => {
        const sum = checksum(`tsr_${text}`);
        expect(sum).toHaveLength(API_KEY_CHECKSUM_CHARS);
        expect(fromBase62(sum)).toBe(Bun.hash.crc32(`tsr_${text}`));
      }),
    );
  });

  test("any prefix of 8 and any secret of 32 characters with a valid checksum is accepted", () => {
    fc.assert(
      fc.property(base62(8, 64), base62(26, 90), (prefix, random) => {
        const body = `tsr_${prefix}_${random}`;
        expect(parseKey(body + checksum(body))?.keyPrefix).toBe(`tsr_${prefix}`);
      }),
    );
  });

  test("a key with one character changed is refused without a query", () => {
    const key = generateKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.constantFrom(...BASE62), (position, character) => {
        fc.pre(key[position] !== character);
        expect(
          parseKey(key.slice(0, position) + character + key.slice(position + 1)),
        ).toBeUndefined();
      }),
    );
  });

  test("text of any other form is not a key", () => {
    for (const text of [
      "",
      "tsr_",
      "tsr_short_x",
      "abc_12345678_x",
      `${generateKey()} `,
      "é".repeat(60),
    ]) {
      expect(parseKey(text)).toBeUndefined();
    }
    expect(looksLikeKey("tsr_x")).toBe(true);
    expect(looksLikeKey("eyJhbGciOi")).toBe(false);
  });
});
