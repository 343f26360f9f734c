import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startApi, startApiProcess, type TestApi } from "../../../support/api/api.ts";
import { TestWorld, untilReady } from "../../../support/api/world.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { TestProxy } from "../../../support/processes/proxy.ts";
import { until } from "../../../support/until.ts";
import { S3_SECRET, startS3 } from "../../faults/s3.ts";

const COPIED = "as it was when the snapshot was copied";
const STORED = "as the database has it now";
const LATER = "written after the copy";
const TEXTS = 6;

const bucket = startS3();
const bucketEnv = bucket.env();
const sharedFolder = temporaryFolder("shared-snapshots");
const folderEnv = { SNAPSHOT_URL: `file://${sharedFolder}` };
const first = await startApi({ env: { DATA_DIR: dataFolder() } });
const { sql } = first;

/** Starts a node with an empty data directory, or with the given one. */
async function startNode(env: Record<string, string>, folder = dataFolder()): Promise<TestApi> {
  const node = await startApi({ beside: first, env: { DATA_DIR: folder, ...env } });
  await untilReady(node.url);
  return node;
}

/** How many copies a node has made in a direction, by outcome. */
async function copies(url: string, direction: "upload" | "download", outcome: string) {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const name = `tessera_snapshot_copies_total{direction="${direction}",outcome="${outcome}"}`;
  const line = metrics.split("\n").find((each) => each.startsWith(name));
  return Number(line?.split(" ").at(-1) ?? 0);
}

/** New projects, whose snapshots a node has copied, and which have changed since then without a trace. */
async function copiedWorlds(env: Record<string, string>, count: number): Promise<TestWorld[]> {
  const worlds: TestWorld[] = [];
  for (let i = 0; i < count; i++) {
    const world = await TestWorld.create(first);
    await world.write(2, "file", COPIED);
    worlds.push(world);
  }
  const folder = dataFolder();
  const node = await startNode(env, folder);
  for (const world of worlds) await world.agrees(node.url);
  await node.stop();
  // A stop uploads as much as its time allows. The next start goes on with what is left.
  const isCopied = (world: TestWorld) => keysOf(world).some(isManifest);
  if (env === bucketEnv && !worlds.every(isCopied)) {
    const again = await startNode(env, folder);
    await until("every project is copied", () => worlds.every(isCopied));
    await again.stop();
  }
  // The change log has no entry for this, so only what is read from the database can show it.
  for (const world of worlds) await world.rewriteChunks(STORED);
  return worlds;
}

async function copiedWorld(env: Record<string, string>): Promise<TestWorld> {
  const [world] = await copiedWorlds(env, 1);
  return world as TestWorld;
}

const keysOf = ({ project }: TestWorld) =>
  [...bucket.objects.keys()].filter((key) => key.includes(project.id));

describe.each([
  ["a folder", folderEnv],
  ["a bucket", bucket.env()],
] as const)("nodes that share snapshots in %s", async (_, env) => {
  const own = dataFolder();
  const [changed, newer] = [await TestWorld.create(first), await TestWorld.create(first)];
  const texts = await TestWorld.create(first);
  let node: TestApi;

  beforeAll(async () => {
    await changed.write(2, "file", COPIED);
    await newer.write(1, "file", COPIED);
    await texts.writeTexts(TEXTS);
    const older = await startNode(env, own);
    for (const world of [changed, newer, texts]) await world.agrees(older.url);
    await older.stop();
    await newer.write(1, "more", COPIED);
    const last = await startNode(env);
    await newer.agrees(last.url);
    await last.stop();
    await changed.write(1, "later", LATER);
    for (const world of [changed, newer]) await world.rewriteChunks(STORED);
    await texts.rewriteTexts("volcano");
    node = await startNode(env);
  });

  test("a node without data begins with the snapshot of another one and the changes since, without reading the chunks again", async () => {
    await changed.agrees(node.url);
    expect((await changed.search(node.url)).contents.toSorted()).toEqual([COPIED, STORED]);
    expect(await copies(node.url, "download", "done")).toBeGreaterThan(0);
  });

  test("texts and fields are copied, too", async () => {
    expect(await texts.paths(node.url, {})).toHaveLength(TEXTS);
    expect(await texts.paths(node.url, { query: "volcano" })).toEqual([]);
    await node.stop();
  });

  test("a node whose own snapshot is older than the copy takes the copy", async () => {
    node = await startNode(env, own);
    await newer.agrees(node.url);
    expect((await newer.search(node.url)).contents).toEqual([COPIED]);
    await node.stop();
  });

  test("the copy of a deleted project is deleted, also when no node ran at the time", async () => {
    const copied = () => [
      ...readdirSync(sharedFolder, { recursive: true }).map(String),
      ...bucket.objects.keys(),
    ];
    const isCopied = ({ project }: TestWorld) => copied().some((name) => name.includes(project.id));
    expect([isCopied(changed), isCopied(newer)]).toEqual([true, true]);
    await sql`DELETE FROM projects WHERE id = ${changed.project.id}`;
    node = await startNode(env);
    await until("the first copy is deleted", () => !isCopied(changed));
    expect(isCopied(newer)).toBe(true);
    await sql`DELETE FROM projects WHERE id = ${newer.project.id}`;
    await until("the second copy is deleted", () => !isCopied(newer));
    await node.stop();
  });
});

const isManifest = (key: string) => key.endsWith("/manifest.json");

/** What can happen to the copy of a project, and to each of its pieces. */
type Damage = (world: TestWorld, foreign: TestWorld) => void;
const toPieces =
  (damage: (bytes: Uint8Array, key: string) => Uint8Array | undefined): Damage =>
  (world) => {
    for (const key of keysOf(world).filter((each) => !isManifest(each))) {
      const damaged = damage(bucket.objects.get(key) as Uint8Array, key);
      if (damaged === undefined) bucket.objects.delete(key);
      else bucket.objects.set(key, damaged);
    }
  };

const DAMAGES: Readonly<Record<string, Damage>> = {
  "whose pieces have a flipped bit": toPieces((bytes) => {
    const at = bytes.length >> 1;
    return bytes.with(at, (bytes[at] as number) ^ 0x10);
  }),
  "whose pieces are cut short": toPieces((bytes) => bytes.slice(1)),
  "whose pieces are longer": toPieces((bytes) => Buffer.concat([bytes, Buffer.from("x")])),
  "whose pieces are missing": toPieces(() => undefined),
  "whose manifest is rubbish": (world) => {
    for (const key of keysOf(world).filter(isManifest)) bucket.objects.set(key, Buffer.from("{{"));
  },
  "that belongs to another project": (world, foreign) => {
    for (const key of keysOf(world)) bucket.objects.delete(key);
    for (const key of keysOf(foreign)) {
      const bytes = bucket.objects.get(key) as Uint8Array;
      bucket.objects.set(key.replace(foreign.project.id, world.project.id), bytes);
    }
  },
};

describe("a copy that cannot be used", () => {
  const env = bucketEnv;
  const worlds = new Map<string, TestWorld>();
  let [node, next]: TestApi[] = [];

  beforeAll(async () => {
    const [foreign, ...others] = await copiedWorlds(env, 1 + Object.keys(DAMAGES).length);
    for (const [i, [what, damage]] of Object.entries(DAMAGES).entries()) {
      const world = others[i] as TestWorld;
      damage(world, foreign as TestWorld);
      worlds.set(what, world);
    }
    node = await startNode(env);
  });
  afterAll(() => next?.stop());

  test.each(Object.keys(DAMAGES))("%s is replaced from the database", async (what) => {
    const world = worlds.get(what) as TestWorld;
    await world.agrees(node?.url as string);
    expect((await world.search(node?.url as string)).contents).toEqual([STORED]);
  });

  test("is counted as damaged, and whole again once a node that replaced it has stopped", async () => {
    // The numbers are reported twice a second.
    await until("all damaged copies are counted", async () => {
      return (await copies(node?.url as string, "download", "damaged")) >= worlds.size;
    });
    await node?.stop();
    for (const world of worlds.values()) await world.rewriteChunks(COPIED);
    next = await startNode(env);
    for (const world of worlds.values()) {
      await world.agrees(next.url);
      expect((await world.search(next.url)).contents).toEqual([STORED]);
    }
  });
});

describe("while the bucket does not answer", () => {
  test("projects are loaded from the database, others are searched as before, and no secret is logged", async () => {
    const world = await copiedWorld(bucket.env());
    const proxy = await TestProxy.start(`http://127.0.0.1:${bucket.port}`);
    const env = {
      ...bucket.env(Number(new URL(proxy.url).port)),
      ...{ DATA_DIR: dataFolder(), INDEX_PRELOAD: "none", LOG_LEVEL: "warn" },
    };
    const node = await startApiProcess({ beside: first, env });
    await untilReady(node.url);
    const loaded = await copiedWorld({});
    await loaded.agrees(node.url);
    for (const fault of ["stall", "cut"] as const) {
      await using _fault = proxy[fault]();
      const failed = await copies(node.url, "download", "unavailable");
      const waiting = world.agrees(node.url);
      expect((await loaded.search(node.url)).status).toBe(200);
      await waiting;
      expect((await world.search(node.url)).contents).toEqual([STORED]);
      if (fault === "stall") {
        await until("the failure is counted", async () => {
          return (await copies(node.url, "download", "unavailable")) > failed;
        });
      }
    }
    node.server.kill("SIGTERM");
    expect(await node.server.exited).toBe(0);
    const log = node.server.logs();
    expect(log).toContain("reading the database instead");
    for (const secret of [S3_SECRET, "X-Amz-Signature", "AWS4-HMAC"])
      expect(log).not.toContain(secret);
  });
});

describe("a node that is killed while it uploads", () => {
  // A node that cannot read a copy in time, as on a busy machine, reads the database instead.
  test(
    "leaves the copy of before, which a new node begins with",
    async () => {
      const world = await copiedWorld(bucket.env());
      await world.rewriteChunks(COPIED);
      const env = { ...bucket.env(), DATA_DIR: dataFolder() };
      const node = await startApiProcess({ beside: first, env });
      await world.write(1, "unfinished", LATER);
      await world.agrees(node.url);
      const manifest = keysOf(world).find(isManifest) as string;
      const before = bucket.objects.get(manifest);
      const uploading = bucket.hold(`${world.project.id}/manifest.json`);
      // The end of the service begins the upload.
      node.server.kill("SIGTERM");
      await uploading;
      node.server.kill("SIGKILL");
      await node.server.exited;
      bucket.resume();
      expect(bucket.objects.get(manifest)).toEqual(before as Uint8Array);
      await world.rewriteChunks(STORED);
      const next = await startNode(bucket.env());
      await world.agrees(next.url);
      expect((await world.search(next.url)).contents).toContain(COPIED);
      await next.stop();
    },
    { retry: 2 },
  );
});
