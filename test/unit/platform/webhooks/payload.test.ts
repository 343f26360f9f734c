import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JSON_MAX_DEPTH } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { isSamePayload, readPayload } from "../../../../src/platform/webhooks/payload.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const json = (text: string) => readPayload(bytes(text), "application/json");

describe("readPayload", () => {
  test("a body of any bytes and content type is either accepted or a validation error", () => {
    const type = fc.constantFrom(
      "",
      "application/json",
      "application/x-www-form-urlencoded",
      "text/plain",
      "image/png",
    );
    const body = fc.oneof(fc.uint8Array(), fc.string().map(bytes), fc.json().map(bytes));
    fc.assert(
      fc.property(body, type, fc.string(), (given, mediaType, charset) => {
        try {
          const payload = readPayload(given, mediaType, charset);
          JSON.parse(payload.json);
          return payload.fingerprint.byteLength === 32;
        } catch (error) {
          return error instanceof Problem && error.slug === "validation-failed";
        }
      }),
    );
  });

  test("text never equals JSON with the same characters", () => {
    expect(isSamePayload(json('"a"'), readPayload(bytes('"a"'), "text/plain"))).toBe(false);
  });

  test("bytes that decode to the same text are still different payloads", () => {
    const of = (...values: number[]) => readPayload(new Uint8Array(values), "image/png");
    expect(isSamePayload(of(0xfe), of(0xff))).toBe(false);
    expect(isSamePayload(of(0xfe), of(0xfe))).toBe(true);
  });

  test("JSON may be nested up to the limit", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(json(nested(JSON_MAX_DEPTH)).isJson).toBe(true);
    expect(() => json(nested(JSON_MAX_DEPTH + 1))).toThrow(Problem);
    expect(() => json(nested(100_000))).toThrow(Problem);
  });
});
