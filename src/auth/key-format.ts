import {
  API_KEY_CHECKSUM_CHARS,
  API_KEY_PREFIX_CHARS,
  API_KEY_PREFIX_MAX_CHARS,
  API_KEY_PREFIX_MIN_CHARS,
  API_KEY_SECRET_CHARS,
  API_KEY_SECRET_MAX_CHARS,
  API_KEY_SECRET_MIN_CHARS,
  API_KEY_TAG,
  CREDENTIAL_MAX_CHARS,
} from "../domain/limits.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 below 256: larger bytes would make low digits more likely. */
const UNBIASED_BELOW = 248;
const FORM = new RegExp(
  `^${API_KEY_TAG}_[0-9A-Za-z]{${API_KEY_PREFIX_MIN_CHARS},${API_KEY_PREFIX_MAX_CHARS}}_[0-9A-Za-z]{${API_KEY_SECRET_MIN_CHARS},${API_KEY_SECRET_MAX_CHARS}}$`,
);

function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < UNBIASED_BELOW && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** CRC-32 of the text in base62, left-padded with `0` to API_KEY_CHECKSUM_CHARS. */
export function checksum(text: string): string {
  let value = Bun.hash.crc32(text);
  let digits = "";
  while (value > 0) {
    digits = ALPHABET[value % 62] + digits;
    value = Math.floor(value / 62);
  }
  return digits.padStart(API_KEY_CHECKSUM_CHARS, "0");
}

export interface ParsedKey {
  /** `tsr_<prefix>`, which is public. */
  readonly keyPrefix: string;
  /** SHA-256 of the whole key. */
  readonly hash: Uint8Array;
}

/** SHA-256 of a whole key, the only form in which a key is stored. */
export function hashKey(key: string): Uint8Array {
  return new Uint8Array(new Bun.CryptoHasher("sha256").update(key).digest());
}

/** A new key of the form `tsr_<prefix>_<secret>`, from the system's CSPRNG. */
export function generateKey(): string {
  const prefix = randomBase62(API_KEY_PREFIX_CHARS);
  const random = randomBase62(API_KEY_SECRET_CHARS - API_KEY_CHECKSUM_CHARS);
  const body = `${API_KEY_TAG}_${prefix}_${random}`;
  return body + checksum(body);
}

/** True for text with the tag of an API key, well-formed or not. */
export function looksLikeKey(text: string): boolean {
  return text.startsWith(`${API_KEY_TAG}_`);
}

/** Parses a key; undefined when its form or its checksum is wrong. */
export function parseKey(key: string): ParsedKey | undefined {
  if (key.length > CREDENTIAL_MAX_CHARS || !FORM.test(key)) return undefined;
  const body = key.slice(0, -API_KEY_CHECKSUM_CHARS);
  if (checksum(body) !== key.slice(-API_KEY_CHECKSUM_CHARS)) return undefined;
  return { keyPrefix: key.slice(0, key.lastIndexOf("_")), hash: hashKey(key) };
}
