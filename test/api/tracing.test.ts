import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { addEnvironment } from "../../support/accounts.ts";
import { startApiProcess } from "../../support/api/api.ts";
import {
  environment as billing,
  CATALOGUE,
  ORIGIN,
  PATH,
  PERMISSION,
  PRO,
  SECRET_KEY,
} from "../../support/api/billing.ts";
import { BillingProvider } from "../../support/api/billing-provider.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { Collector, type OtlpSpan } from "./otlp-collector.ts";

needs("redis-server");

const DIMENSION = 768;
const SERVER = 2;
const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;
const SEARCH_ROUTE = "/projects/{project_reference}/environments/{environmentName}/search";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN = "b7ad6b7169203331";

type Service = Awaited<ReturnType<typeof startApiProcess>>;

/** The complete lines of the log that are JSON. */
const linesOf = (service: Service): Array<Record<string, unknown>> =>
  service.server
    .logs()
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

/** Ends the service as an operator does, which exports the last spans. */
async function end(service: Service): Promise<void> {
  service.server.kill("SIGTERM");
  expect(await service.server.exited).toBe(0);
}

/** The spans of a request, the one of the request itself first. */
function spansOf(collector: Collector, requestId: string) {
  const root = collector.spans.find(
    (span) => span.attributes["tessera.request_id"] === requestId && span.kind === SERVER,
  );
  const spans = collector.spans.filter(({ traceId }) => traceId === root?.traceId);
  return { root: root as OtlpSpan, spans };
}

const childrenOf = (spans: readonly OtlpSpan[], parent: OtlpSpan) =>
  spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);

/** Sends a request with an id of its own. */
async function send(
  service: Service,
  id: string,
  path: string,
  {
    method = "POST",
    headers = {},
    body,
  }: { method?: string; headers?: object; body?: string } = {},
): Promise<number> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { "content-type": "application/json", "x-request-id": id, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Breaks a request off in the middle of its body, and waits until the service has noticed. */
async function breakOff(service: Service, path: string, headers: Readonly<Record<string, string>>) {
  const { port } = new URL(service.url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(port), "127.0.0.1", () => {
    const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Length: 1000", ...lines];
    socket.write(`${head.join("\r\n")}\r\n\r\n{`, () => resolve());
  });
  socket.on("error", () => {});
  await promise;
  socket.destroy();
  const id = headers["X-Request-Id"];
  await until("the request is logged", () =>
    linesOf(service).some(({ requestId }) => requestId === id),
  );
}

/** Runs all requests of the tests against a service, and ends it. */
async function world() {
  const collector = new Collector();
  const keyRequests: Headers[] = [];
  const keyServer = Bun.serve({
    port: 0,
    fetch({ headers }) {
      keyRequests.push(headers);
      return Response.json({ keys: [] });
    },
  });
  onCleanup(() => keyServer.stop(true));
  const redis = await startRedis();
  const provider = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
  const service = await startApiProcess({
    env: {
      ...billing(provider),
      REDIS_URL: redis.url,
      JWT_JWKS_URL: `http://localhost:${keyServer.port}/keys`,
      LOG_LEVEL: "http",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=tests",
      OTEL_SERVICE_NAME: "tessera-under-test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    },
  });
  const { owner: user, project } = await service.ownedProject();
  const environment = await addEnvironment(service.sql, project);
  const chunks = Array.from({ length: 300 }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
  const version = await writeVersion(service.sql, project, "a.md", chunks);
  await attach(service.sql, project, environment.id, [version]);
  const search = `/projects/${project.slug}/environments/production/search`;
  const query = { vector: Array.from(randomVector(DIMENSION, 1)), dimension: DIMENSION };
  const body = JSON.stringify(query);
  const { headers } = user;
  const statuses: Record<string, number> = {};
  const run = async (id: string, ...rest: [string, Parameters<typeof send>[3]?]) => {
    statuses[id] = await send(service, id, ...rest);
  };

  await run("first", search, { headers, body });
  const traceparent = `00-${TRACE}-${CALLER_SPAN}-01`;
  await run("continued", search, { headers: { ...headers, traceparent, tracestate: "a=1" }, body });
  await run("unsampled", search, {
    headers: { ...headers, traceparent: `00-${"1".repeat(32)}-${CALLER_SPAN}-00` },
    body,
  });
  const malformed = ["", "00-zz-1-01", `00-${"0".repeat(32)}-${CALLER_SPAN}-01`, "x".repeat(5_000)];
  for (const [i, value] of malformed.entries()) {
    await run(`malformed-${i}`, search, { headers: { ...headers, traceparent: value }, body });
  }
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      run(`parallel-${i}`, "/projects", {
        headers,
        body: JSON.stringify({ name: "P", slug: `parallel-${i}` }),
      }),
    ),
  );
  const webhook = await addWebhook(service.sql, project);
  await run("delivery", webhook.path, {
    headers: { ...webhook.headers, "idempotency-key": randomUUID() },
    body: "{}",
  });
  const payer = await service.token(randomUUID(), { permissions: [PERMISSION] });
  await run("upgrade", PATH, {
    headers: { ...payer.headers, origin: ORIGIN },
    body: JSON.stringify(PRO),
  });
  await run("unauthorized", search, { body });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "RS256" })}.${part({ sub: user.userId })}.${part({})}`;
  await run("key-set", search, { headers: { authorization: `Bearer ${token}` }, body });
  await run("invalid", search, { headers, body: "{" });
  await service.sql`ALTER TABLE conversations RENAME TO conversations_away`;
  await run("broken", `/conversations/${randomUUID()}`, { headers, method: "GET" });
  await run("tool", "/mcp", {
    headers: { ...headers, accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "lookup", arguments: { project_reference: project.slug, query: "text" } },
    }),
  });
  await breakOff(service, search, { ...headers, "X-Request-Id": "aborted" });
  await end(service);
  return { collector, service, statuses, provider, keyRequests };
}

const { collector, service, statuses, provider, keyRequests } = await world();
const traceOf = (id: string) => spansOf(collector, id);

describe("a traced search", () => {
  test("is a span of its route with operation, status and request id", () => {
    const { root, spans } = traceOf("first");
    expect(statuses["first"]).toBe(200);
    expect(root.name).toBe(`POST ${SEARCH_ROUTE}`);
    expect(root.parentSpanId).toBe("");
    expect(root.attributes).toMatchObject({
      "http.request.method": "POST",
      "http.route": SEARCH_ROUTE,
      "http.response.status_code": 200,
      "tessera.operation": "searchEnvironment",
    });
    expect(spans.filter(({ parentSpanId }) => !parentSpanId)).toEqual([root]);
  });

  test("has child spans of its statements, without values, and of the search with its stages", () => {
    const { root, spans } = traceOf("first");
    const children = childrenOf(spans, root);
    const statements = children.filter((span) => span.attributes["db.system.name"]);
    expect(statements.length).toBeGreaterThan(0);
    for (const span of statements) {
      expect(span.kind).toBe(CLIENT);
      const attributes = span.attributes;
      expect(attributes).toMatchObject({ "db.system.name": "postgresql" });
      expect(attributes["db.query.text"]).toMatch(/^(SELECT|WITH) .*\?/);
    }
    const search = children.find(({ name }) => name === "search");
    expect((search as OtlpSpan).attributes).toMatchObject({ plan: "scan", scopeVectors: 300 });
  });
});

describe("the trace of a caller", () => {
  test("is continued when the caller has sent a valid traceparent", () => {
    const { root } = traceOf("continued");
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: CALLER_SPAN });
  });

  test("is not recorded when the caller does not record it", () => {
    expect(statuses["unsampled"]).toBe(200);
    expect(traceOf("unsampled").root).toBeUndefined();
  });

  test("is a new one when the traceparent is malformed", () => {
    for (let i = 0; i < 4; i++) {
      expect(statuses[`malformed-${i}`]).toBe(200);
      expect(traceOf(`malformed-${i}`).root.parentSpanId).toBe("");
    }
  });

  test("is never mixed up with that of another request at the same time", () => {
    const traces = Array.from({ length: 20 }, (_, i) => traceOf(`parallel-${i}`));
    expect(new Set(traces.map(({ root }) => root.traceId)).size).toBe(20);
    for (const { root, spans } of traces) {
      expect(spans.filter(({ kind }) => kind === SERVER)).toEqual([root]);
      const transactions = childrenOf(spans, root).filter(({ name }) => name === "TRANSACTION");
      expect(transactions.length).toBe(1);
      const inside = childrenOf(spans, transactions[0] as OtlpSpan);
      expect(inside.map(({ name }) => name)).toContain("INSERT");
    }
  });
});

test("commands of Redis are spans of the request that sends them", () => {
  const { root, spans } = traceOf("delivery");
  const commands = spans.filter((span) => span.attributes["db.system.name"] === "redis");
  expect(commands.map(({ name }) => name)).toContain("EVAL");
  expect(childrenOf(spans, root)).toEqual(expect.arrayContaining([commands[0]]));
});

test("a call of the payment provider is a span, and carries it as traceparent", () => {
  expect(statuses["upgrade"]).toBe(200);
  const { root, spans } = traceOf("upgrade");
  const calls = spans.filter((span) => span.attributes["server.address"] === "127.0.0.1");
  expect(calls.length).toBeGreaterThan(0);
  const sent = provider.received.map(({ headers }) => headers.get("traceparent"));
  for (const { spanId } of calls) expect(sent).toContain(`00-${root.traceId}-${spanId}-01`);
});

test("reading the keys of tokens is a span of the request that needs them", () => {
  expect(statuses["key-set"]).toBe(401);
  const { root, spans } = traceOf("key-set");
  const [call] = childrenOf(spans, root).filter(
    (span) => span.attributes["server.address"] === "localhost",
  );
  const sent = keyRequests.map((headers) => headers.get("traceparent"));
  expect(sent).toEqual([`00-${root.traceId}-${call?.spanId}-01`]);
});

test("a tool call of an assistant and the operation that it runs are one trace", () => {
  const { spans } = traceOf("tool");
  const names = spans.filter(({ kind }) => kind === SERVER).map(({ name }) => name);
  expect(names.sort()).toEqual([
    "POST /mcp",
    "POST /projects/{project_reference}/knowledge/lookup",
  ]);
  expect(spans.filter(({ parentSpanId }) => !parentSpanId)).toHaveLength(1);
  expect(spans.map(({ name }) => name)).toContain("lookup");
});

describe("a request that fails", () => {
  test("has its status, which is an error of the span from 500 on", () => {
    for (const [id, status, code] of [
      ["unauthorized", 401, UNSET],
      ["invalid", 400, UNSET],
      ["broken", 500, ERROR],
    ] as const) {
      expect(statuses[id]).toBe(status);
      const { root } = traceOf(id);
      expect(root.attributes["http.response.status_code"]).toBe(status);
      expect(root.status.code).toBe(code);
    }
  });

  test("names the code of the error in the span of the statement", () => {
    const { spans } = traceOf("broken");
    const failed = spans.find((span) => span.attributes["error.type"] === "42P01");
    expect(failed?.status.code).toBe(ERROR);
  });

  test("ends its span when the caller has gone away", () => {
    expect(traceOf("aborted").root.attributes["http.response.status_code"]).toBe(400);
  });
});

test("every span has ended, within the time of its parent's trace, and its parent was exported", () => {
  const ids = new Set(collector.spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(collector.spans.length);
  for (const span of collector.spans) {
    expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano);
    const { parentSpanId } = span;
    if (parentSpanId && parentSpanId !== CALLER_SPAN) expect(ids).toContain(parentSpanId);
  }
});

test("the exporter and the resource follow the standard variables", () => {
  expect(collector.requests.length).toBeGreaterThan(0);
  for (const { path, type, headers } of collector.requests) {
    expect({ path, type }).toEqual({ path: "/v1/traces", type: "application/x-protobuf" });
    expect(headers.get("x-tenant")).toBe("tests");
  }
  expect(collector.resources[0]).toMatchObject({
    "service.name": "tessera-under-test",
    "service.version": expect.any(String),
    "deployment.environment.name": "test",
  });
});

test("lines of the log name the trace and span of their request", () => {
  for (const id of ["first", "continued", "broken"]) {
    const { root } = traceOf(id);
    const lines = linesOf(service).filter(({ requestId }) => requestId === id);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      expect(line).toMatchObject({ trace_id: root.traceId, span_id: root.spanId });
    }
  }
});

test("no credential is in a span", () => {
  const text = collector.requests.map(({ body }) => body).join("");
  expect(text).not.toContain("Bearer");
  expect(text).not.toContain(SECRET_KEY);
});

test("a collector that does not answer delays neither requests nor the end of the service", async () => {
  const silent = new Collector(false);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `${silent.url}/own` };
  const traced = await startApiProcess({ env });
  expect(await send(traced, "one", "/errors/unauthorized", { method: "GET" })).toBe(401);
  await end(traced);
  // It was asked at the path for traces.
  expect(silent.requests[0]?.path).toBe("/own/v1/traces");
});

test("a share of the traces is kept, and those that callers record", async () => {
  const sampled = new Collector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: sampled.url, OTEL_TRACES_SAMPLER_ARG: "0" };
  const traced = await startApiProcess({ env });
  const headers = { traceparent: `00-${TRACE}-${CALLER_SPAN}-01` };
  await send(traced, "one", "/errors/unauthorized", { method: "GET" });
  await send(traced, "two", "/errors/unauthorized", { method: "GET", headers });
  await end(traced);
  expect(new Set(sampled.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
});

test("without an endpoint no line of the log names a trace", async () => {
  const quiet = await startApiProcess({ env: { LOG_LEVEL: "http" } });
  const { traceparent } = { traceparent: `00-${TRACE}-${CALLER_SPAN}-01` };
  await send(quiet, "one", "/projects", { method: "GET", headers: { traceparent } });
  await end(quiet);
  expect(linesOf(quiet).filter((line) => "trace_id" in line)).toEqual([]);
});
