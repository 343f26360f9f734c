import { REQUEST_ID_MAX_CHARS } from "../shared/limits.ts";

/** The form in which a caller's X-Request-Id is accepted, as a pattern of JSON Schema. */
export const REQUEST_ID_PATTERN = `^[A-Za-z0-9._-]{1,${REQUEST_ID_MAX_CHARS}}$`;
const FORM = new RegExp(REQUEST_ID_PATTERN);

/** The caller's X-Request-Id when it has an accepted form, or a new id. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && FORM.test(given) ? given : crypto.randomUUID();
}
