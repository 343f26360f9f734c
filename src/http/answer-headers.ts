import { IGNORED_FIELD_MAX_CHARS, IGNORED_FIELDS_MAX } from "../domain/limits.ts";
import { extensionHeader } from "./operation.ts";

/**
 * Names the project of a request, whichever of its references the caller used. Balancers in front of
 * several nodes can route by it, when a client sends it with its next requests; the service ignores it.
 */
export const ROUTING_KEY = "x-routing-key";

/** For the documentation. */
export const routingKeyHeader = extensionHeader(
  "X-Routing-Key",
  "The project's id. A client that sends it with its next requests to the project lets a " +
    "balancer choose the node that has the project in memory.",
);

/** The header that names ignored fields. */
const IGNORED_FIELDS = "X-Ignored-Fields";

/** For the documentation. */
export const ignoredFieldsHeader = extensionHeader(
  IGNORED_FIELDS,
  `Names of unknown fields of the body, which were ignored: the first ` +
    `${IGNORED_FIELDS_MAX}, separated by commas. Characters other than letters, digits, \`-\`, ` +
    "`_` and `.` are percent-encoded. Absent when all fields are known.",
);

/** The first of these names as a header shows them; empty for none. */
export function ignoredFields(names: Iterable<string>): string {
  const shown: string[] = [];
  for (const name of names) {
    if (shown.length >= IGNORED_FIELDS_MAX) break;
    if (name === "") continue;
    shown.push(encodeURIComponent(name.slice(0, IGNORED_FIELD_MAX_CHARS).toWellFormed()));
  }
  return shown.join(",");
}

/** The header of an answer to a body with these ignored fields. */
export function ignoring(names: Iterable<string>): Record<string, string> {
  const value = ignoredFields(names);
  return value === "" ? {} : { [IGNORED_FIELDS]: value };
}

/** The header of an answer to this body, for a schema that has these fields. */
export function ignoredFieldsOf(
  body: object,
  properties: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return ignoring(Object.keys(body).filter((name) => !Object.hasOwn(properties, name)));
}
