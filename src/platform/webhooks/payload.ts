import { createHash } from "node:crypto";
import { canonicalJson } from "../../domain/json/canonical.ts";
import { isDeeper } from "../../domain/json/parse.ts";
import { JSON_MAX_DEPTH } from "../../domain/limits.ts";
import { invalid } from "../../domain/problem/problem.ts";
import { isJsonType } from "../../http/request.ts";

/** The payload of a delivery. */
export interface Payload {
  /** The payload as JSON text: JSON exactly as it was sent, other text as a JSON string. */
  readonly json: string;
  /** False for other text, which is compared byte by byte. */
  readonly isJson: boolean;
  /** SHA-256 of the payload's bytes. */
  readonly fingerprint: Uint8Array;
}

const FORM_TYPE = "application/x-www-form-urlencoded";
/** The field of GitHub's forms that contains the JSON document. */
const FORM_FIELD = "payload";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined when the text is not JSON. Throws `validation-failed` for JSON nested too deeply. */
function jsonPayload(text: string): Payload | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (isDeeper(value, JSON_MAX_DEPTH)) {
    throw invalid([{ field: "body", message: `must not be nested deeper than ${JSON_MAX_DEPTH}` }]);
  }
  return { json: text, isJson: true, fingerprint: createHash("sha256").update(text).digest() };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Text in the charset of its content type. Invalid bytes become U+FFFD. */
function textPayload(bytes: Uint8Array, charset: string): Payload {
  let decoder = new TextDecoder();
  try {
    decoder = new TextDecoder(charset as Bun.Encoding);
  } catch {
    // Text in an unknown charset is most likely UTF-8.
  }
  const json = JSON.stringify(decoder.decode(bytes));
  return { json, isJson: false, fingerprint: createHash("sha256").update(bytes).digest() };
}

/**
 * The payload in a body of any kind. JSON is kept byte for byte. A form with JSON in its field
 * `payload` becomes that JSON. An empty body is null. Everything else is text. Throws
 * `validation-failed` for malformed JSON under a JSON media type.
 *
 * @param type the media type in lower case and without parameters; "" when the sender gave none
 */
export function readPayload(bytes: Uint8Array, type: string, charset = "utf-8"): Payload {
  if (bytes.byteLength === 0) return jsonPayload("null") as Payload;
  if (isJsonType(type)) {
    const text = decodeUtf8(bytes);
    const payload = text === undefined ? undefined : jsonPayload(text);
    if (payload !== undefined) return payload;
    throw invalid([{ field: "body", message: "is not valid JSON" }], "The body is not valid JSON.");
  }
  const text = type === FORM_TYPE || type === "" ? decodeUtf8(bytes) : undefined;
  const document = type === FORM_TYPE ? new URLSearchParams(text ?? "").get(FORM_FIELD) : text;
  return jsonPayload(document ?? "") ?? textPayload(bytes, charset);
}

/** True when both have the same bytes, or are equal JSON documents. */
export function isSamePayload(a: Payload, b: Payload): boolean {
  if (Buffer.compare(a.fingerprint, b.fingerprint) === 0) return a.isJson === b.isJson;
  return a.isJson && b.isJson && canonicalJson(a.json) === canonicalJson(b.json);
}
