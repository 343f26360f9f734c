import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDemo } from "../../src/demo/create-demo.ts";
import { createLog } from "../../src/observability/log.ts";
import { sharedBilling } from "../../support/api/billing.ts";
import type { Json } from "../../support/api/openapi.ts";
import { onCleanup } from "../../support/cleanup.ts";

const { api, payer } = await sharedBilling();
const contract = await api.contract();
const folder = mkdtempSync(join(tmpdir(), "tessera-demo-"));
onCleanup(async () => rmSync(folder, { recursive: true }));
const demo = await createDemo(folder, api.sql, createLog("fatal"));
/** A key cannot have the permission to pay. */
const buyer = await payer();
const owner = { userId: "", headers: { "x-api-key": demo?.key ?? "" } };

interface Example {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** Ids that only an earlier answer tells, by the parameter: where they are listed. */
const LISTED: Readonly<Record<string, string>> = {
  event_id: "/projects/demo/webhook-events",
  chunk_id: "/projects/demo/chunks",
};

async function valueFor({ name, example }: Json): Promise<string> {
  const list = LISTED[name];
  if (list === undefined) return String(example);
  return (await api.get(list, owner)).body.data[0]?.id ?? "none";
}

/** The requests of an operation with all examples of its parameters, one for each kind of body. */
async function examplesOf(path: string, method: string, operation: Json): Promise<Example[]> {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let address = path;
  for (const parameter of operation["parameters"].map((given: Json) => contract.resolved(given))) {
    if (parameter.example === undefined) continue;
    const value = await valueFor(parameter);
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, value);
    else if (parameter.in === "query") query.set(parameter.name, value);
    else headers[parameter.name] = value;
  }
  const target = query.size === 0 ? address : `${address}?${query}`;
  const bodies = Object.entries<Json>(operation["requestBody"]?.content ?? { "": {} });
  return bodies.map(([type, { example }], i) => {
    // Another body is another delivery.
    if (i > 0 && "Idempotency-Key" in headers) headers["Idempotency-Key"] = crypto.randomUUID();
    const isForm = type === "application/x-www-form-urlencoded";
    const text = typeof example === "string" ? example : JSON.stringify(example);
    return {
      ...{ name: `${method} ${path} ${type}`, method: method.toUpperCase(), path: target },
      headers: {
        accept: Object.keys(operation["responses"]["200"]?.content ?? {})[0] ?? "*/*",
        ...headers,
        ...(type === "" ? {} : { "content-type": type.replace("*/*", "text/plain") }),
      },
      body: type === "" ? undefined : isForm ? `${new URLSearchParams(example)}` : text,
    };
  });
}

/** Reads come first, then what adds and changes, and last what removes what others name. */
const ORDER = ["get", "post", "put", "patch", "delete"];

test("every example in the document succeeds against the demo", async () => {
  const operations = Object.entries<Json>(contract.document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  // A delivery makes the event that the reads of events name.
  const first = ({ path }: { path: string }) => (path === "/webhooks/{webhook_id}" ? -1 : 0);
  const last = ({ path }: { path: string }) => (path === "/projects/{project_reference}" ? 1 : 0);
  operations.sort(
    (a, b) =>
      first(a) - first(b) || ORDER.indexOf(a.method) - ORDER.indexOf(b.method) || last(a) - last(b),
  );
  const failed: string[] = [];
  for (const { path, method, operation } of operations) {
    for (const example of await examplesOf(path, method, operation)) {
      const { name, headers, body } = example;
      const answer = await api.send(example.method, example.path, {
        ...{ as: path.startsWith("/account/") ? buyer : owner, headers },
        ...(body === undefined ? {} : { body }),
      });
      if (answer.status >= 300)
        failed.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
  }
  expect(failed).toEqual([]);
});
