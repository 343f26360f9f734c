import { invalid, Problem } from "../problem/problem.ts";

const tooLarge = (maxBytes: number) =>
  new Problem("payload-too-large", { detail: `The body must have at most ${maxBytes} bytes.` });

/**
 * Reads a whole body of at most `maxBytes`. Throws `payload-too-large` for a larger one: before
 * reading when its length is declared, else as soon as too much has arrived.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (Number(declared) > maxBytes) throw tooLarge(maxBytes);
    return new Uint8Array(await request.arrayBuffer().catch(refuseUnreadable));
  }
  if (request.body === null) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += part.byteLength;
    if (length > maxBytes) throw tooLarge(maxBytes);
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

function refuseUnreadable(cause: unknown): never {
  throw new Problem("validation-failed", { detail: "The body could not be read.", cause });
}

/** The media type of a Content-Type header, lower-cased and without parameters; "" when absent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** Throws `unsupported-media-type` for a compressed body, which would otherwise look malformed. */
export function requirePlainBody(request: Request): void {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return;
  throw new Problem("unsupported-media-type", {
    detail: "This operation accepts bodies without a content encoding only.",
    headers: { "accept-encoding": "identity" },
  });
}

/** True for application/json and every `+json` type. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || /^application\/[\w.!#$&^-]+\+json$/.test(type);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Parses a JSON body; throws `validation-failed` without repeating it unless it is JSON in UTF-8. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    const message = bytes.byteLength === 0 ? "is required" : "is not valid JSON";
    throw invalid([{ field: "body", message }], `The body ${message}.`);
  }
}
