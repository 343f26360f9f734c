import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { lacks } from "../../support/programs.ts";
import { scrape } from "../../support/prometheus.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";

const DIMENSION = 768;
const withoutRedis = lacks("redis-server");
const redis = withoutRedis ? undefined : await startRedis();
const api = await startApi({ env: { REDIS_URL: redis?.url, SEARCH_WORKERS: "1" } });
const { owner: user, project } = await api.ownedProject();
const environment = await addEnvironment(api.sql, project);
const chunks = Array.from({ length: 500 }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
const version = await writeVersion(api.sql, project, "a.md", chunks);
await attach(api.sql, project, environment.id, [version]);
const searchPath = `/projects/${project.slug}/environments/production/search`;
const lookupPath = `/projects/${project.slug}/knowledge/lookup`;
const query = { vector: Array.from(randomVector(DIMENSION, 1)), dimension: DIMENSION };

const search = (parameters = "") => api.post(`${searchPath}${parameters}`, query, user);

describe("a search", () => {
  const counts = async () => {
    const metrics = await scrape(api.url);
    const of = (stage: string) =>
      metrics.sum("tessera_search_stage_duration_seconds_count", { stage });
    return {
      stages: ["parse", "scan", "rescore", "exact", "render"].map(of),
      seconds: metrics.sum("tessera_search_stage_duration_seconds_sum"),
      waits: metrics.sum("tessera_search_pool_wait_seconds_count", { kind: "exact_search" }),
    };
  };

  test("counts in every stage that it went through", async () => {
    // The first search may wait until the scope is indexed.
    expect((await search()).status).toBe(200);
    const before = await counts();
    expect((await search()).headers.get("x-search-plan")).toBe("scan");
    const scanned = await counts();
    const [parse = 0, scan = 0, rescore = 0, exact = 0, render = 0] = before.stages;
    expect(scanned.stages).toEqual([parse + 1, scan + 1, rescore + 1, exact, render + 1]);
    expect(scanned.seconds).toBeGreaterThan(before.seconds);
  });

  test("that runs on a search thread counts with the time that it waited for one", async () => {
    const before = await counts();
    expect((await search("?effort=exact")).headers.get("x-search-plan")).toBe("exact");
    const after = await counts();
    expect(after.waits).toBe(before.waits + 1);
    expect(after.stages[3]).toBe((before.stages[3] ?? 0) + 1);
  });
});

test("a lookup counts with its time", async () => {
  const name = "tessera_lookup_duration_seconds_count";
  const before = (await scrape(api.url)).sum(name);
  expect((await api.post(lookupPath, { query: "text" }, user)).status).toBe(200);
  expect((await scrape(api.url)).sum(name)).toBe(before + 1);
});

describe("caches", () => {
  const countsOf = async (cache: string) => {
    const metrics = await scrape(api.url);
    const of = (result: string) => metrics.sum("tessera_cache_requests_total", { cache, result });
    return { hits: of("hit"), misses: of("miss") };
  };

  test("a credential misses its cache at first and hits it again", async () => {
    for (const [cache, caller] of [
      ["api_keys", await api.key(await api.user())],
      ["tokens", await api.user()],
    ] as const) {
      const before = await countsOf(cache);
      await api.get("/projects", caller);
      expect(await countsOf(cache)).toEqual({ ...before, misses: before.misses + 1 });
      // An entry lives for less than a second, so a slow machine may need more than one request.
      await until("the cache is hit", async () => {
        await api.get("/projects", caller);
        return (await countsOf(cache)).hits > before.hits;
      });
    }
  });

  test("scopes and webhooks have caches of their own", async () => {
    const webhook = await addWebhook(api.sql, project);
    await api.send("POST", webhook.path, { body: "{}", headers: webhook.headers });
    expect((await countsOf("webhooks")).misses).toBeGreaterThan(0);
    expect((await countsOf("scopes")).misses).toBeGreaterThan(0);
  });
});

describe("calls of dependencies", () => {
  const name = "db_client_operation_duration_seconds_count";
  const labels = (system: string, operation: string, error = "") => ({
    db_system_name: system,
    db_operation_name: operation,
    error_type: error,
  });

  test("statements and transactions of PostgreSQL are counted by operation", async () => {
    const before = await scrape(api.url);
    const caller = await api.user();
    expect((await api.get("/projects", caller)).status).toBe(200);
    expect((await api.post("/projects", { name: "Counted", slug: "counted" }, caller)).status).toBe(
      201,
    );
    const after = await scrape(api.url);
    for (const operation of ["SELECT", "INSERT", "TRANSACTION"]) {
      const which = labels("postgresql", operation);
      expect(after.sum(name, which), operation).toBeGreaterThan(before.sum(name, which));
    }
  });

  test("a statement that fails is counted with the code of its error", async () => {
    await api.sql`ALTER TABLE conversations RENAME TO conversations_away`;
    const answer = await api.get(`/conversations/${crypto.randomUUID()}`, user);
    await api.sql`ALTER TABLE conversations_away RENAME TO conversations`;
    expect(answer.status).toBe(500);
    const undefinedTable = { db_system_name: "postgresql", error_type: "42P01" };
    expect((await scrape(api.url)).sum(name, undefinedTable)).toBe(1);
  });

  test.skipIf(withoutRedis)(
    "commands of Redis are counted, and errors while it is away",
    async () => {
      const webhook = await addWebhook(api.sql, project);
      const deliver = () =>
        api.send("POST", webhook.path, {
          body: "{}",
          headers: { ...webhook.headers, "idempotency-key": crypto.randomUUID() },
        });
      expect((await deliver()).status).toBe(200);
      const before = await scrape(api.url);
      expect(before.sum(name, labels("redis", "EVAL"))).toBeGreaterThan(0);
      expect(before.sum("tessera_coordination_up")).toBe(1);
      await redis?.kill();
      expect((await deliver()).status).toBe(200);
      const after = await scrape(api.url);
      const failed = after
        .samples(name, { db_system_name: "redis" })
        .filter((sample) => sample.labels["error_type"] !== "");
      expect(failed.length).toBeGreaterThan(0);
      expect(after.sum("tessera_coordination_up")).toBe(0);
    },
  );
});

test("gauges state the version, the database, the indexes and what waits for a graph", async () => {
  const metrics = await scrape(api.url);
  expect(metrics.sum("tessera_build_info")).toBe(1);
  expect(metrics.sum("tessera_database_up")).toBe(1);
  expect(metrics.sum("tessera_index_vectors")).toBe(500);
  expect(metrics.samples("tessera_index_graph_backlog")).toHaveLength(1);
});

describe("docs/operations.md", () => {
  const documented = new Set(
    readFileSync("docs/operations.md", "utf8")
      .split("\n")
      .filter((line) => /^\| `(tessera|db|http)_/.test(line))
      .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)])
      .map(([, name = ""]) => name),
  );
  const isListed = (name: string) =>
    [...documented].some((entry) =>
      entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry,
    );

  test("lists every metric of the service", async () => {
    const { types } = await scrape(api.url);
    expect([...types.keys()].filter((name) => !isListed(name))).toEqual([]);
  });

  test("lists no metric that the service does not have", async () => {
    const names = [...(await scrape(api.url)).types.keys()];
    const has = (entry: string) =>
      names.some((name) =>
        entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry,
      );
    expect(documented.size).toBeGreaterThan(10);
    expect([...documented].filter((entry) => !has(entry))).toEqual([]);
  });
});

test("histograms are in seconds, counters end with _total, and every metric has a help text", async () => {
  const { types } = await scrape(api.url);
  const own = [...types].filter(([name]) => !/^tessera_(process|nodejs)_/.test(name));
  for (const [name, type] of own) {
    if (type === "histogram") expect(name).toMatch(/_seconds$/);
    expect(name.endsWith("_total"), name).toBe(type === "counter");
  }
});
