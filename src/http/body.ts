import { invalid, Problem } from "../problem/problem.ts";

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
