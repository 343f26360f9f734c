const REQUEST_ID_MAX_CHARS = 64;

/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** The form in which a caller's X-Request-Id is accepted, as a pattern of JSON Schema. */
export const REQUEST_ID_PATTERN = `^[A-Za-z0-9._-]{1,${REQUEST_ID_MAX_CHARS}}$`;
const FORM = new RegExp(REQUEST_ID_PATTERN);

/** The caller's X-Request-Id when it has an accepted form, or a new id. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && FORM.test(given) ? given : crypto.randomUUID();
}

/** The path of a base URL, without a trailing slash: empty for most. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, "");
}

/** Where the path begins in a request's URL, which is the path alone without a Host header. */
export function pathStart(url: string): number {
  return url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
}

/** Path and query of a request's URL as they were sent; no parser can reject them. */
export function targetOf(url: string): { path: string; target: string } {
  const target = url.slice(pathStart(url));
  const end = target.indexOf("?");
  return { path: end < 0 ? target : target.slice(0, end), target };
}

/** The media type of a Content-Type header, lower-cased and without parameters; "" when absent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** True for application/json and every `+json` type. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || /^application\/[\w.!#$&^-]+\+json$/.test(type);
}

const HTML_TYPE = "text/html";
const JSON_TYPE = "application/json";

/** The quality that an Accept header gives to a media type, by the most specific of its ranges. */
function qualityOf(accept: string, type: string): number {
  const ranges = ["*/*", `${type.slice(0, type.indexOf("/"))}/*`, type];
  let best = { specificity: -1, quality: 0 };
  for (const entry of accept.split(",")) {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const specificity = ranges.indexOf(range);
    if (specificity <= best.specificity) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    best = { specificity, quality: Number(weight) || 0 };
  }
  return best.quality;
}

/** True when the caller prefers HTML to JSON, as browsers do (RFC 9110, section 12.5.1). */
export function prefersHtml(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return qualityOf(accept, HTML_TYPE) > qualityOf(accept, JSON_TYPE);
}
