import { expect, test } from "bun:test";
import { wordTables } from "../../../../native/words.ts";
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  OtherVersion,
  SNAPSHOT_FORMAT,
} from "../../../../src/index/snapshots/manifest.ts";
import { ORIGIN } from "../saved.ts";

const PROJECT = "0b0e7f4c-52a1-4a52-9b35-6f0f4c1e2d3a";
const ANOTHER_UNICODE = "99.0 0123abcd";
const PART = { name: "plain-1.json", bytes: 2, checksum: "0123456789abcdef" };
const MANIFEST: Manifest = { ...ORIGIN, parts: { fields: [], text: [PART] } };

const encoded = (manifest = MANIFEST) => Buffer.from(encodeManifest(PROJECT, manifest));
const decoded = (bytes: Uint8Array) => decodeManifest(PROJECT, Buffer.from(bytes).toString());

test("a manifest names the state of the database and the parts of each index", () => {
  expect(decoded(encoded())).toMatchObject(MANIFEST);
});

test("a manifest with any bit flipped or any end cut off is refused", () => {
  const whole = encoded();
  for (let at = 0; at < whole.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = whole.with(at, (whole[at] as number) ^ (1 << bit));
      expect(() => decoded(changed), `bit ${bit} of byte ${at}`).toThrow();
    }
    expect(() => decoded(whole.subarray(0, at)), `${at} bytes`).toThrow();
  }
});

test("a manifest of another format is of another version, whatever its form is", () => {
  for (const text of [`{"format":99}`, `{"format":1,"crc":7,"manifest":{}}`]) {
    expect(() => decoded(Buffer.from(text))).toThrow(OtherVersion);
  }
  expect(() => decoded(Buffer.from(`{"format":99}`))).toThrow(
    `format version 99, this build reads ${SNAPSHOT_FORMAT}`,
  );
});

test("a manifest of words that were read by other tables of characters is of another version", () => {
  const other = { ...MANIFEST, words: ANOTHER_UNICODE };
  expect(() => decoded(encoded(other))).toThrow(new OtherVersion(ANOTHER_UNICODE, wordTables));
});

test("a manifest of another project is refused", () => {
  expect(() => decodeManifest("another", encoded().toString())).toThrow("of another project");
});

test("a manifest that leads out of its folder is refused", () => {
  for (const name of ["../other/plain-1.json", "..", "/etc/passwd", "a/b", ""]) {
    const parts = { text: [{ ...PART, name }] };
    expect(() => decoded(encoded({ ...MANIFEST, parts }))).toThrow("names the part");
  }
});
