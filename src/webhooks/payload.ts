import { createHash } from "node:crypto";
import { isJsonType } from "../http/body.ts";
import { invalid } from "../problem/problem.ts";
import { canonicalJson } from "../shared/canonical-json.ts";
import { JSON_MAX_DEPTH } from "../shared/limits.ts";

/** What a delivery carried. */
export interface Payload {
  /** The payload as JSON text: a JSON body as it was sent, any other as a JSON string. */
  readonly json: string;
  /** False for other text, whose identity is its exact bytes. */
  readonly isJson: boolean;
  /** SHA-256 of the bytes that hold the payload. */
  readonly fingerprint: Uint8Array;
}

const FORM_TYPE = "application/x-www-form-urlencoded";
/** The field in which forms carry a JSON document, as GitHub sends them. */
const FORM_FIELD = "payload";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** Undefined when the text is no JSON; throws when it is nested beyond what anybody reads. */
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

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Text in the charset of its content type. Bytes that are none of it become U+FFFD. */
function textPayload(bytes: Uint8Array, charset: string): Payload {
  let decoder = new TextDecoder();
  try {
    decoder = new TextDecoder(charset as Bun.Encoding);
  } catch {
    // A charset that nobody knows: UTF-8 is the likeliest.
  }
  const json = JSON.stringify(decoder.decode(bytes));
  return { json, isJson: false, fingerprint: createHash("sha256").update(bytes).digest() };
}

/**
 * Takes a body of any kind: JSON stays JSON, to the byte; a form with a JSON document in its field
 * `payload` is that document; nothing is null; everything else is text. Throws `validation-failed`
 * for JSON that is none.
 *
 * @param type the media type, lower-cased and without parameters; "" when the sender gave none
 */
export function readPayload(bytes: Uint8Array, type: string, charset = "utf-8"): Payload {
  if (bytes.byteLength === 0) return jsonPayload("null") as Payload;
  if (isJsonType(type)) {
    const text = decoded(bytes);
    const payload = text === undefined ? undefined : jsonPayload(text);
    if (payload !== undefined) return payload;
    throw invalid([{ field: "body", message: "is not valid JSON" }], "The body is not valid JSON.");
  }
  const text = type === FORM_TYPE || type === "" ? decoded(bytes) : undefined;
  const document = type === FORM_TYPE ? new URLSearchParams(text ?? "").get(FORM_FIELD) : text;
  return jsonPayload(document ?? "") ?? textPayload(bytes, charset);
}

/** True when both are the same bytes, or the same JSON document in another spelling. */
export function isSamePayload(a: Payload, b: Payload): boolean {
  if (Buffer.compare(a.fingerprint, b.fingerprint) === 0) return a.isJson === b.isJson;
  return a.isJson && b.isJson && canonicalJson(a.json) === canonicalJson(b.json);
}
