import { PERMISSIONS } from "../../src/auth/principal.ts";
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import type { Project } from "../../support/accounts.ts";
import type { Caller, TestApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  readonly operation: Json;
  /** The path of the operation, with its parameters in braces. */
  readonly template: string;
  readonly method: string;
}

/** A request of an operation with all examples of its parameters. Those of a project name the demo. */
export interface Example extends DocumentedOperation {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Ids that only an earlier answer tells, by the parameter: where they are listed. */
const LISTED: Readonly<Record<string, string>> = {
  event_id: "/projects/demo/webhook-events",
  chunk_id: "/projects/demo/chunks",
};

/** Reads come first, then what adds and changes, and last what removes what others name. */
const ORDER = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/** A delivery makes the event that the reads of events name. */
const FIRST = "/webhooks/{webhook_id}";
/** Its deletion takes all of the project with it. */
const LAST = "/projects/{project_reference}";

const rank = ({ template, method }: DocumentedOperation): number =>
  template === FIRST ? -1 : ORDER.indexOf(method) + (template === LAST ? 0.5 : 0);

/** All operations, in an order in which the demo can answer the examples of one after the other. */
export async function operationsOf(api: TestApi): Promise<DocumentedOperation[]> {
  const { document } = await api.contract();
  const operations = Object.entries<Json>(document.paths).flatMap(([template, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      template,
      method: method.toUpperCase(),
      operation,
    })),
  );
  return operations.sort((a, b) => rank(a) - rank(b));
}

/**
 * The examples of all operations. They are made one by one, because some name what an earlier one has made.
 */
export async function* examplesOf(api: TestApi, owner: Caller): AsyncGenerator<Example> {
  for (const operation of await operationsOf(api))
    yield* await examplesOfOne(api, owner, operation);
}

/**
 * The examples of an operation, one for each kind of body.
 *
 * @param places values of parameters in its path instead of the examples
 */
export async function examplesOfOne(
  api: TestApi,
  owner: Caller,
  { template, method, operation }: DocumentedOperation,
  places: Readonly<Record<string, string>> = {},
): Promise<Example[]> {
  const contract = await api.contract();
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let address = template;
  for (const parameter of operation.parameters.map((given: Json) => contract.resolved(given))) {
    if (parameter.example === undefined) continue;
    const value = places[parameter.name] ?? (await valueFor(api, owner, parameter));
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, value);
    else if (parameter.in === "query") query.set(parameter.name, value);
    else headers[parameter.name] = value;
  }
  const path = query.size === 0 ? address : `${address}?${query}`;
  const bodies = Object.entries<Json>(operation.requestBody?.content ?? { "": {} });
  return bodies.map(([type, { example }], i) => {
    // Another body is another delivery.
    if (i > 0 && "Idempotency-Key" in headers) headers["Idempotency-Key"] = crypto.randomUUID();
    const isForm = type === "application/x-www-form-urlencoded";
    const text = typeof example === "string" ? example : JSON.stringify(example);
    return {
      operation,
      template,
      method,
      path,
      headers: {
        accept: Object.keys(operation.responses["200"]?.content ?? {})[0] ?? "*/*",
        ...headers,
        ...(type === "" ? {} : { "content-type": type.replace("*/*", "text/plain") }),
      },
      body: type === "" ? undefined : isForm ? `${new URLSearchParams(example)}` : text,
    };
  });
}

async function valueFor(api: TestApi, owner: Caller, { name, example }: Json): Promise<string> {
  const list = LISTED[name];
  if (list === undefined) return String(example);
  return (await api.get(list, owner)).body.data[0]?.id ?? "none";
}

/** Sends an example, with another path if one is given. */
export const sendExample = (
  api: TestApi,
  as: Caller,
  { method, headers, body, ...example }: Example,
  path = example.path,
) => api.send(method, path, { as, headers, ...(body === undefined ? {} : { body }) });

/** Adds the demo to a service. Its owner has a token, whose use changes nothing, as that of a key does. */
export async function addDemo(api: TestApi): Promise<{ owner: Caller; project: Project }> {
  await createDemo(temporaryFolder("demo"), api.sql, createLog("fatal"));
  const [row] = await api.sql<{ id: string; slug: string; owner: string }[]>`
    SELECT p.id, p.slug, m.user_id AS owner FROM projects p
    JOIN memberships m ON m.project_id = p.id AND m.role = 'owner' WHERE p.slug = 'demo'`;
  const { id, slug, owner } = row as { id: string; slug: string; owner: string };
  const permissions = Object.keys(PERMISSIONS);
  return { owner: await api.token(owner, { permissions }), project: { id, slug } };
}
