import { describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import { NextPageUnavailable, Tessera } from "../../client/src/index.ts";
import { startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { TestWorld } from "../../support/api/world.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { type Fault, faultUntil } from "../../support/faults.ts";
import { callCommand } from "../../support/processes/command.ts";
import { NOBODY_PORT } from "../../support/processes/ports.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { codeOf, filesOf } from "../meta/sources.ts";

needs("redis-server");

const ITEMS = 30;
const LIMIT = 7;
/** Fewer than a page has. */
const SMALL = 3;
/** Rounds of requests while Redis does not answer. Only those of the first may wait for a command. */
const ROUNDS = 5;
const REQUESTS_PER_ROUND = 2;

const UNKNOWN_CURSOR = [400, "invalid-cursor"];

const redis = await startRedis();
const env = { REDIS_URL: redis.url };
const api = await startApi({ env });
const world = await TestWorld.create(api);
await world.writeTexts(ITEMS);
const small = await TestWorld.create(api);
await small.writeTexts(SMALL);
for (const each of [world, small]) await each.agrees(api.url);
const { member, project } = world;
const admin = new Redis(redis.url, { retryStrategy: () => 50 });
admin.on("error", () => {});
onCleanup(async () => admin.disconnect());

/** A state of Redis in which it does not serve. */
interface Away {
  readonly begin: () => Promise<Fault>;
  /** What `/readyz` and `doctor` say. */
  readonly reason: string;
  /** True if Redis still reads, so that known cursors work. */
  readonly reads: boolean;
}

const AWAY = { reason: "Redis does not answer", reads: false };

/** Sends commands to Redis. The fault ends by another one. */
async function commanded(
  begin: () => Promise<unknown>,
  undo: () => Promise<unknown>,
): Promise<Fault> {
  const fault = faultUntil(async () => void (await undo()));
  await begin();
  return fault;
}

const withoutMemory = () =>
  commanded(
    () => admin.config("SET", "maxmemory", "1"),
    () => admin.config("SET", "maxmemory", "0"),
  );
const asReplica = () =>
  commanded(
    () => admin.replicaof("127.0.0.1", NOBODY_PORT),
    () => admin.replicaof("NO", "ONE"),
  );

const FAULTS: Readonly<Record<string, Away>> = {
  "is frozen": { begin: async () => redis.pause(), ...AWAY },
  "has no memory left": {
    begin: withoutMemory,
    reason: "Redis refuses commands: OOM",
    reads: true,
  },
  "is a replica": {
    begin: asReplica,
    reason: "Redis refuses commands: READONLY",
    reads: true,
  },
  "is a replica that has lost its primary": {
    async begin() {
      await admin.config("SET", "replica-serve-stale-data", "no");
      return await asReplica();
    },
    reason: "Redis refuses commands: READONLY",
    reads: false,
  },
  "permits nothing": {
    begin: () =>
      commanded(
        () => admin.call("ACL", "SETUSER", "default", "-set", "-get", "-eval"),
        () => admin.call("ACL", "SETUSER", "default", "+set", "+get", "+eval"),
      ),
    reason: "Redis refuses commands: NOPERM",
    reads: false,
  },
  "was killed": { begin: () => redis.kill(), ...AWAY },
};

const lookUp = (body: object) => world.lookUp(api.url, body);
const retrieve = (json: object) => api.post(`/projects/${project.slug}/retrieve`, json, member);
const readiness = async () => {
  const response = await fetch(`${api.url}/readyz`);
  return { httpStatus: response.status, body: (await response.json()) as object };
};
/** How many commands have failed without an answer. */
const unanswered = async () => {
  const metrics = await (await fetch(`${api.url}/metrics`)).text();
  const commands = metrics.matchAll(/^db_client_operation_duration_seconds_count\{(.*)\} (\d+)$/gm);
  const failed = [...commands].filter(([, labels = ""]) => {
    return labels.includes('"redis"') && /error_type="(?!ReplyError)\w/.test(labels);
  });
  return failed.reduce((sum, [, , count]) => sum + Number(count), 0);
};
const isMended = async () => (await lookUp({ limit: LIMIT })).headers.get("x-next-page") === null;

for (const [state, fault] of Object.entries(FAULTS)) {
  test(`while Redis ${state}, first pages are answered without the next, and readiness names it`, async () => {
    const cursor: string = (await lookUp({ limit: LIMIT })).body.page_info.next;
    const before = await unanswered();
    await using away = await fault.begin();
    for (let round = 0; round < ROUNDS; round++) {
      const [found, hits] = await Promise.all([
        lookUp({ limit: LIMIT }),
        retrieve({ query: "common words", limit: LIMIT }),
      ]);
      for (const { status, headers, body } of [found, hits]) {
        expect([status, headers.get("x-next-page")]).toEqual([200, "unavailable"]);
        expect(body.data).toHaveLength(LIMIT);
        expect(body.page_info.next).toBeNull();
      }
    }
    // Later ones are answered without a command, or wait for the refusal of theirs only.
    expect((await unanswered()) - before).toBeLessThanOrEqual(REQUESTS_PER_ROUND);
    // A result of one page needs no cursor.
    expect(await small.paths(api.url, {})).toHaveLength(SMALL);
    const next = await lookUp({ cursor });
    if (fault.reads) expect([next.status, next.body.page_info.next]).toEqual([200, null]);
    else expect([next.status, next.body.slug]).toEqual([503, "dependency-unavailable"]);
    const { reason } = fault;
    expect(await readiness()).toEqual({
      httpStatus: 200,
      body: { status: "degraded", reasons: { redis: reason } },
    });
    expect(await (await fetch(`${api.url}/metrics`)).text()).toContain("tessera_coordination_up 0");
    await away.end();
    await until("pages have a next one again", isMended);
    expect(await readiness()).toEqual({ httpStatus: 200, body: { status: "ready", reasons: {} } });
    expect(await world.paths(api.url, { limit: LIMIT })).toHaveLength(ITEMS);
    // Only a killed one has lost the cursor.
    const after = await lookUp({ cursor });
    if (state === "was killed") expect([after.status, after.body.slug]).toEqual(UNKNOWN_CURSOR);
    else expect(after.status).toBe(200);
  });
}

test("a cursor from one process works in another", async () => {
  const other = await startApi({ beside: api, env });
  await world.agrees(other.url);
  const urls = [api.url, other.url];
  for (const question of [{}, { query: "common words" }]) {
    const paths: string[] = [];
    let body: object | null = { ...question, limit: LIMIT };
    for (let page = 0; body !== null; page++) {
      const answer = await world.lookUp(urls[page % 2] as string, body);
      expect(answer.status).toBe(200);
      for (const item of answer.body.data) paths.push(item.path);
      const { next } = answer.body.page_info;
      body = next === null ? null : { cursor: next };
    }
    expect(paths).toEqual(await world.paths(api.url, question));
    expect(new Set(paths).size).toBe(ITEMS);
  }
});

describe("while Redis refuses writes", () => {
  const refusing = async <T>(work: () => Promise<T>): Promise<T> => {
    await using _refused = await withoutMemory();
    return await work();
  };

  test("the client lists the first pages and then says that they are not all", async () => {
    const [header = ""] = [member.headers["authorization"]];
    const client = new Tessera({ baseUrl: api.url, credential: header.replace("Bearer ", "") });
    await refusing(async () => {
      for (const all of [
        client.allKnowledge(project.slug, { limit: LIMIT }),
        client.allRetrieved(project.slug, { query: "common words", limit: LIMIT }),
      ]) {
        const listed: unknown[] = [];
        const listing = (async () => {
          for await (const item of all) listed.push(item);
        })();
        await expect(listing).rejects.toBeInstanceOf(NextPageUnavailable);
        expect(listed).toHaveLength(LIMIT);
      }
    });
  });

  test("an assistant is told that there is more", async () => {
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "lookup",
        arguments: { project_reference: project.slug, query: "common", limit: 2 },
      },
    };
    const headers = { accept: "application/json, text/event-stream" };
    const ask = () => api.send("POST", "/mcp", { as: member, json: call, headers });
    const { body } = await refusing(ask);
    expect(body.result.structuredContent.page_info.next).toBeNull();
    expect(body.result.content.at(-1).text).toContain("more results");
    const { content } = (await ask()).body.result;
    expect(content.filter(({ type }: Json) => type === "text")).toHaveLength(1);
  });

  test("`doctor` says what Redis answers and what to do", async () => {
    const { stdout, stderr } = await refusing(() =>
      callCommand(["doctor"], { env: { ...env, DATABASE_URL: api.databaseUrl } }),
    );
    expect(stdout + stderr).toContain("Redis refuses commands: OOM");
  });
});

test("every user of the coordinator has a behaviour without it that is tested", () => {
  const users = filesOf("src/**/*.ts").filter(
    (file) =>
      !file.startsWith("src/db/coordination/") &&
      /oordinator\.(?:acquire|put|get|add)\(/.test(codeOf(file)),
  );
  expect(users.toSorted()).toEqual([
    // Deliveries and answers run without a lease: test/faults/redis-failures.test.ts.
    "src/db/idempotency/with-lease.ts",
    // Each process counts on its own: test/api/rate-limits.test.ts.
    "src/http/load/rate-limit.ts",
    // Cursors of lookups and retrievals: this file.
    "src/query/stored-cursors.ts",
  ]);
});
