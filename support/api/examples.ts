import type { Caller, TestApi } from "./api.ts";
import type { Json } from "./openapi.ts";

/** A request of an operation with all examples of its parameters. Those of a project name the demo. */
export interface Example {
  readonly operation: Json;
  /** The path of the operation, with its parameters in braces. */
  readonly template: string;
  readonly method: string;
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
const ORDER = ["get", "post", "put", "patch", "delete"];

const ranks = ({ template, method }: Pick<Example, "template" | "method">) => [
  // A delivery makes the event that the reads of events name.
  template === "/webhooks/{webhook_id}" ? 0 : 1,
  ORDER.indexOf(method.toLowerCase()),
  template === "/projects/{project_reference}" ? 1 : 0,
];

/**
 * The examples of all operations, one for each kind of body, in an order in which the demo can answer them one after
 * the other. They are made one by one, because some name what an earlier one has made.
 */
export async function* examplesOf(api: TestApi, owner: Caller): AsyncGenerator<Example> {
  const { document } = await api.contract();
  const operations = Object.entries<Json>(document.paths).flatMap(([template, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ template, method, operation })),
  );
  const ordered = operations
    .map((each) => ({ each, rank: ranks(each) }))
    .sort(({ rank: a }, { rank: b }) => {
      const at = a.findIndex((rank, i) => rank !== b[i]);
      return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
    });
  for (const { each } of ordered) yield* examplesOfOne(api, owner, each);
}

async function* examplesOfOne(
  api: TestApi,
  owner: Caller,
  { template, method, operation }: Pick<Example, "template" | "method" | "operation">,
): AsyncGenerator<Example> {
  const contract = await api.contract();
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let address = template;
  for (const parameter of operation.parameters.map((given: Json) => contract.resolved(given))) {
    if (parameter.example === undefined) continue;
    const value = await valueFor(api, owner, parameter);
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, value);
    else if (parameter.in === "query") query.set(parameter.name, value);
    else headers[parameter.name] = value;
  }
  const path = query.size === 0 ? address : `${address}?${query}`;
  const bodies = Object.entries<Json>(operation.requestBody?.content ?? { "": {} });
  for (const [i, [type, { example }]] of bodies.entries()) {
    // Another body is another delivery.
    if (i > 0 && "Idempotency-Key" in headers) headers["Idempotency-Key"] = crypto.randomUUID();
    const isForm = type === "application/x-www-form-urlencoded";
    const text = typeof example === "string" ? example : JSON.stringify(example);
    yield {
      ...{ operation, template, method: method.toUpperCase(), path },
      headers: {
        accept: Object.keys(operation.responses["200"]?.content ?? {})[0] ?? "*/*",
        ...headers,
        ...(type === "" ? {} : { "content-type": type.replace("*/*", "text/plain") }),
      },
      body: type === "" ? undefined : isForm ? `${new URLSearchParams(example)}` : text,
    };
  }
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
