import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { addEnvironment } from "../../../support/accounts.ts";
import { type Caller, sharedApi, startApiProcess, type TestApi } from "../../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../../support/api/versions.ts";
import { scrape } from "../../../support/prometheus.ts";
import { RawClient } from "../../../support/raw-client.ts";
import { until } from "../../../support/until.ts";
import { addWebhook, storedRows } from "../../../support/webhooks.ts";

const DIMENSION = 1_024;
/** The chunks of a project whose searches take their time, and of any other. */
const CHUNKS = 1_000;
const FEW_CHUNKS = 10;
/** The connections of a hostile client: more than there were places for searches. */
const CONNECTIONS = 1_100;
const query = JSON.stringify({
  vector: Array.from(randomVector(DIMENSION, 1)),
  dimension: DIMENSION,
  threshold: 0,
});

const vectors = Array.from({ length: CHUNKS }, (_, i) => randomVector(DIMENSION, i));

/** A user with a project that can be searched, and the request that searches it. */
async function tenantOf(api: TestApi, count: number) {
  const { owner: user, project } = await api.ownedProject();
  const environment = await addEnvironment(api.sql, project);
  const chunks = vectors.slice(0, count).map((vector) => chunkOf(vector));
  const version = await writeVersion(api.sql, project, "a.md", chunks);
  await attach(api.sql, project, environment.id, [version]);
  const path = `/projects/${project.slug}/environments/production/search`;
  const head = headOf(api, path, user, ["Content-Type: application/json"]);
  const request = Buffer.from(`${head}Content-Length: ${query.length}\r\n\r\n${query}`);
  const search = () =>
    fetch(`${api.url}${path}`, {
      method: "POST",
      headers: { ...user.headers, "content-type": "application/json" },
      body: query,
    });
  await until("the project can be searched", async () => {
    const found = (await (await search()).json()) as { data?: unknown[] };
    return (found.data?.length ?? 0) > 0;
  });
  return { user, path, head, request, search };
}

function headOf(api: TestApi, path: string, { headers }: Caller, more: string[] = []): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { host } = new URL(api.url);
  return [`POST ${path} HTTP/1.1`, `Host: ${host}`, ...lines, ...more, ""].join("\r\n");
}

async function connected(api: TestApi): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(new URL(api.url).port), "127.0.0.1", resolve).on("error", reject);
  await promise;
  socket.removeListener("error", reject);
  return socket.on("error", () => {});
}

const METRIC = "tessera_http_request_duration_seconds_count";
const api = await sharedApi();

test("bodies that are announced and never sent keep nobody from searching", async () => {
  const [greedy, modest] = [await tenantOf(api, FEW_CHUNKS), await tenantOf(api, FEW_CHUNKS)];
  const sockets: Socket[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = await connected(api);
    socket.write(`${greedy.head}Content-Length: 1000000\r\n\r\n{`);
    sockets.push(socket);
  }
  for (let i = 0; i < 20; i++) expect((await modest.search()).status).toBe(200);
  // Nor does it keep the same caller from small requests.
  expect((await greedy.search()).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test("uploads that are broken off are no server errors", async () => {
  const { head } = await tenantOf(api, FEW_CHUNKS);
  const user = await api.user();
  const heads = [
    `${head}Content-Length: 1000\r\n\r\n{`,
    `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
    `${headOf(api, "/api-keys", user, ["Content-Type: application/json"])}Content-Length: 9\r\n\r\n{`,
    `${headOf(api, "/projects", user, ["Content-Type: application/json"])}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  ];
  const counted = async () => (await scrape(api.url)).sum(METRIC);
  for (const text of heads) {
    const before = await counted();
    const socket = await connected(api);
    await new Promise<void>((resolve) => socket.write(text, () => resolve()));
    socket.destroy();
    await until("the request has ended", async () => (await counted()) > before);
  }
  const failed = { status: "500" };
  expect((await scrape(api.url)).samples(METRIC, failed)).toEqual([]);
});

test("deliveries that are pipelined are answered, or none of them is stored", async () => {
  const { project } = await api.ownedProject();
  const webhook = await addWebhook(api.sql, project);
  const head = headOf(api, webhook.path, { userId: "", headers: webhook.headers });
  for (const count of [1, 2, 5, 20]) {
    const before = (await storedRows(api.sql, webhook)).events;
    const socket = await connected(api);
    let text = "";
    let isClosed = false;
    socket.on("close", () => {
      isClosed = true;
    });
    socket.on("data", (bytes) => {
      text += bytes;
    });
    const answers = () => text.split("HTTP/1.1 200").length - 1;
    const deliveries = Array.from({ length: count }, (_, i) => {
      return `${head}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n${String(i).padStart(2)}`;
    });
    socket.write(deliveries.join(""));
    await until("all are answered or the connection is closed", () => {
      return isClosed || answers() === count;
    });
    const answered = answers();
    expect((await storedRows(api.sql, webhook)).events - before).toBe(answered);
    if (count === 1) expect(answered).toBe(1);
    socket.destroy();
  }
});

/** A service that tenants flood; both have a project that can be searched. */
async function flooded() {
  const service = await startApiProcess({ env: { SEARCH_WORKERS: "1", LOG_LEVEL: "warn" } });
  const [greedy, polite] = [await tenantOf(service, CHUNKS), await tenantOf(service, CHUNKS)];
  return { service, greedy, polite };
}

let opened: ReturnType<typeof flooded> | undefined;

function floodedService(): ReturnType<typeof flooded> {
  opened ??= flooded();
  return opened;
}

const REFUSALS_OF_A_FLOOD = 500;

/** Sends a request over many connections without a pause while `work` runs, and counts the answers. */
async function whileFlooding<T>(
  service: TestApi,
  request: Uint8Array,
  connections: number,
  work: (statuses: Map<number, number>) => Promise<T>,
): Promise<T> {
  const statuses = new Map<number, number>();
  let flooding = true;
  const flood = Array.from({ length: connections }, async () => {
    const client = new RawClient(new URL(service.url));
    while (flooding) {
      const { status } = await client.send(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    client.close();
  });
  try {
    await until("every connection has had an answer", () => total(statuses) >= connections);
    return await work(statuses);
  } finally {
    flooding = false;
    await Promise.all(flood);
  }
}

const total = (statuses: Map<number, number>) => [...statuses.values()].reduce((a, b) => a + b, 0);

/** A modest user's requests are answered, whatever a flood sends meanwhile. */
async function answersAll(service: TestApi, modest: Uint8Array): Promise<void> {
  const client = new RawClient(new URL(service.url));
  for (let i = 0; i < 11; i++) expect((await client.send(modest)).status).toBe(200);
  client.close();
}

describe("a flood of one caller keeps no other from being answered", () => {
  const CONNECTED = 256;
  const get = (path: string, headers: Record<string, string>, service: TestApi) =>
    Buffer.from(`${headOf(service, path, { userId: "", headers }).replace("POST", "GET")}\r\n`);

  test("of the API document without a credential", async () => {
    const { service, polite } = await floodedService();
    // Compressed, because this process could not read so many whole ones as fast as they are sent.
    const request = get("/docs/json", { "accept-encoding": "br" }, service);
    await whileFlooding(service, request, CONNECTED, () => answersAll(service, polite.request));
  });

  test.each(["/metrics", "/readyz", "/projects", "/nothing"])(
    "of %s without a credential",
    async (path) => {
      const { service, polite } = await floodedService();
      await whileFlooding(service, get(path, {}, service), CONNECTED, () =>
        answersAll(service, polite.request),
      );
    },
  );

  test("of lists from the database", async () => {
    const { service, greedy, polite } = await floodedService();
    const [, , slug] = greedy.path.split("/");
    const request = get(`/projects/${slug}/chunks?limit=100`, greedy.user.headers, service);
    await whileFlooding(service, request, CONNECTED, () => answersAll(service, polite.request));
  });

  test("of writes of a file, which hold connections to the database", async () => {
    const { service, greedy, polite } = await floodedService();
    const [, , slug] = greedy.path.split("/");
    const path = `/projects/${slug}/files/flood.md`;
    const head = headOf(service, path, greedy.user, ["Content-Type: text/markdown"]);
    const write = Buffer.from(`${head.replace("POST", "PUT")}Content-Length: 7\r\n\r\n# Flood`);
    const list = get("/projects", polite.user.headers, service);
    await whileFlooding(service, write, CONNECTED, async (seen) => {
      await answersAll(service, list);
      expect([...seen.keys()].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
    });
  });

  test("of tools of the Model Context Protocol", async () => {
    const { service, greedy, polite } = await floodedService();
    const [, , slug] = greedy.path.split("/");
    const call = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "lookup", arguments: { project_reference: slug, query: "x" } },
    });
    const head = headOf(service, "/mcp", greedy.user, [
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
    ]);
    const request = Buffer.from(`${head}Content-Length: ${call.length}\r\n\r\n${call}`);
    await whileFlooding(service, request, CONNECTED, () => answersAll(service, polite.request));
  });

  test("of searches", async () => {
    const { service, greedy, polite } = await floodedService();
    await whileFlooding(service, greedy.request, CONNECTED, () =>
      answersAll(service, polite.request),
    );
  });
});

/** The statuses of the answers to requests that are sent together over one connection. */
async function pipelined(service: TestApi, request: Uint8Array, count: number): Promise<number[]> {
  const socket = await connected(service);
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  const statuses = () =>
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  socket.on("close", () => resolve());
  socket.on("data", (bytes) => {
    text += bytes;
    if (statuses().length === count) resolve();
  });
  socket.write(Buffer.concat(Array.from({ length: count }, () => request)));
  await promise;
  socket.destroy();
  return statuses();
}

test("when the first of two requests that are pipelined is refused, the second is answered, too", async () => {
  const { service, greedy } = await floodedService();
  const refused: number[][] = [];
  await whileFlooding(service, greedy.request, CONNECTIONS, async () => {
    // The queue has room for a moment now and then, and what it takes is not refused.
    await until("five pairs are refused", async () => {
      const send = () => pipelined(service, greedy.request, 2);
      const pairs = await Promise.all(Array.from({ length: 10 }, send));
      refused.push(...pairs.filter(([first]) => first === 503));
      return refused.length >= 5;
    });
  });
  for (const statuses of refused) expect(statuses).toHaveLength(2);
});

test("while one tenant floods the service, another with a tenth of its capacity is always answered", async () => {
  const { service, greedy, polite } = await floodedService();
  const answers: number[] = [];
  const statuses = await whileFlooding(service, greedy.request, CONNECTIONS, async (seen) => {
    const client = new RawClient(new URL(service.url));
    await until("far more is refused than answered", async () => {
      answers.push((await client.send(polite.request)).status);
      return answers.length >= 30 && (seen.get(503) ?? 0) > REFUSALS_OF_A_FLOOD;
    });
    client.close();
    return seen;
  });
  expect(new Set(answers)).toEqual(new Set([200]));
  // The rest was answered nevertheless.
  expect(statuses.get(200)).toBeGreaterThan(answers.length);
  // Refusals are logged as a sample.
  const lines = service.server
    .logs()
    .split("\n")
    .filter((line) => line.includes("overloaded"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(REFUSALS_OF_A_FLOOD / 4);
});
