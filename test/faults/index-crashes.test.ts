import { describe, expect, onTestFinished, test } from "bun:test";
import * as native from "../../native/index.ts";
import { SEARCH_LOAD_TIMEOUT_MS } from "../../src/domain/limits.ts";
import { type TextMessage, ViewStore } from "../../src/index/segments/index.ts";
import { startApi, startApiProcess, TestApi } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { lockTable } from "../../support/open-transaction.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { TestProxy } from "../../support/processes/proxy.ts";
import { until } from "../../support/until.ts";

/** How often the indexing thread crashes in one test. */
const CRASHES = 2;
/** How often the database goes away during loads. */
const LOSSES = 2;
/** Between two requests of a client, which leaves the machine to the thread that is replaced. */
const PAUSE_MS = 10;

/** The text segments of a project that indexing threads publish in this process from now on. */
function publishedSegments(projectId: string): Array<WeakRef<SharedArrayBuffer>> {
  const published: Array<WeakRef<SharedArrayBuffer>> = [];
  const { receive } = ViewStore.prototype;
  ViewStore.prototype.receive = function (message: TextMessage) {
    const isWatched = message.type === "segments" && message.projectId === projectId;
    const segments = isWatched ? message.add : [];
    published.push(...segments.map(({ buffer }) => new WeakRef(buffer)));
    receive.call(this, message);
  };
  onTestFinished(() => {
    ViewStore.prototype.receive = receive;
  });
  return published;
}

/** Waits until all of them have left the memory. */
async function untilFreed(segments: ReadonlyArray<WeakRef<SharedArrayBuffer>>): Promise<void> {
  await until("the segments of the crashed thread are freed", () => {
    Bun.gc(true);
    return segments.every((segment) => segment.deref() === undefined);
  });
}

/** The projects in native memory, by the indexing thread that has loaded them, which their names tell. */
function loadedProjects(): Map<string, string[]> {
  return Map.groupBy(native.projects(), (name) => name.split(".")[1] as string);
}

test("an indexing thread that crashes under load is replaced, with the same answers and no memory left behind", async () => {
  const api = await startApi({ config: { failpoints: ["indexing.rebuild"] } });
  const world = await TestWorld.create(api);
  const texts = await TestWorld.create(api);
  // Lookups keep the segments that they have read for a while.
  const unread = await TestWorld.create(api);
  const segments = publishedSegments(unread.project.id);
  const write = () => Promise.all([world.write(10), texts.writeTexts(20), unread.writeTexts(20)]);
  const agree = async () => {
    for (const each of [world, texts]) await each.agrees(api.url);
  };
  await write();
  await agree();

  let isLoaded = true;
  const refusals: unknown[] = [];
  let answered = 0;
  /** A refusal counts unless loading the project took the time that a request waits for it. */
  const answers = async (request: Promise<{ status: number; body: unknown }>) => {
    const askedAt = performance.now();
    const { status, body } = await request;
    if (status === 200) answered++;
    else if (performance.now() - askedAt < SEARCH_LOAD_TIMEOUT_MS) refusals.push({ status, body });
  };
  const ask = async () => {
    while (isLoaded) {
      const lookup = texts.lookUp(api.url, { query: "chapter" });
      await Promise.all([answers(world.search(api.url)), answers(lookup)]);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const asking = Promise.all([ask(), ask()]);
  await using _asked = {
    async [Symbol.asyncDispose]() {
      isLoaded = false;
      await asking;
    },
  };
  for (let crash = 0; crash < CRASHES; crash++) {
    const [crashed] = loadedProjects().keys();
    const isReplaced = () => !loadedProjects().has(crashed as string);
    await until("segments are published", () => segments.length > 0);
    const published = [...segments];
    const writing = write();
    await api.sql`SELECT append_change(${world.project.id}, 'rebuild', ${world.project.id})`;
    await until("another indexing thread has loaded the projects", isReplaced);
    await writing;
    await agree();
    // One thread has loaded the three projects, and the memory of the other is freed.
    await until("one thread has the three projects", () => {
      return `${[...loadedProjects().values()].map(({ length }) => length)}` === "3";
    });
    await untilFreed(published);
  }
  isLoaded = false;
  await asking;
  await unread.agrees(api.url);
  expect(refusals).toEqual([]);
  expect(answered).toBeGreaterThan(0);
});

describe("a service whose database goes away", async () => {
  const { sql, url: databaseUrl } = await createTestDatabase();
  const proxy = await TestProxy.start(databaseUrl);
  const direct = new TestApi("", sql, databaseUrl, async () => {});
  const service = await startApiProcess({ beside: direct, env: { DATABASE_URL: proxy.url } });

  test("a load that loses the database continues once it is back", async () => {
    const world = await TestWorld.create(direct);
    for (let loss = 0; loss < LOSSES; loss++) {
      await using away = proxy.cut();
      await world.write(10, `files-${loss}`);
      const chunks = await lockTable(sql, "chunks", "ACCESS EXCLUSIVE");
      await away.end();
      await chunks.awaitedBy(1);
      // A load waits for its chunks now.
      await using lost = proxy.cut();
      await chunks.commit();
      await lost.end();
    }
    await world.agrees(service.url);
  });

  test("a service without its database still stops on SIGTERM", async () => {
    await untilReady(service.url);
    await using _cut = proxy.cut();
    service.server.kill("SIGTERM");
    expect(await service.server.exited).toBe(0);
  });
});
