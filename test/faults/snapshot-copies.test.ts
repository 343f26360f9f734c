import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startApi, startApiProcess, type TestApi } from "../../support/api/api.ts";
import { IndexWorld, untilReady } from "../../support/api/index-world.ts";
import { KnowledgeWorld } from "../../support/api/knowledge-world.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { startProxy } from "../../support/processes/proxy.ts";
import { S3_SECRET, startS3 } from "../../support/processes/s3.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);

const COPIED = "as it was when the snapshot was copied";
const STORED = "as the database has it now";
const LATER = "written after the copy";
const TEXTS = 6;

const bucket = startS3();
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

/** Lets a node index a project and copy its snapshot, and then changes the database without a trace. */
async function copiedWorld(env: Record<string, string>): Promise<IndexWorld> {
  const world = await IndexWorld.create(first);
  await world.write(2, "file", COPIED);
  const node = await startNode(env);
  await world.agrees(node.url);
  await node.stop();
  // The change log has no entry for this, so only what is read from the database can show it.
  await world.rewriteContents(STORED);
  return world;
}

const keysOf = ({ project }: IndexWorld) =>
  [...bucket.objects.keys()].filter((key) => key.includes(project.id));

describe.each([
  ["a folder", folderEnv],
  ["a bucket", bucket.env()],
] as const)("nodes that share snapshots in %s", (_, env) => {
  test("a node without data begins with the snapshot of another one and the changes since, without reading the chunks again", async () => {
    const world = await copiedWorld(env);
    await world.write(1, "later", LATER);
    await world.rewriteContents(STORED);
    const node = await startNode(env);
    await world.agrees(node.url);
    expect((await world.search(node.url)).contents.toSorted()).toEqual([COPIED, STORED]);
    expect(await copies(node.url, "download", "done")).toBeGreaterThan(0);
    await node.stop();
  });

  test("texts and fields are copied, too", async () => {
    const world = await KnowledgeWorld.create(first);
    await world.write(TEXTS);
    const before = await startNode(env);
    await world.agrees(before.url);
    await before.stop();
    await world.rewrite("volcano");
    const node = await startNode(env);
    expect(await world.paths(node.url, {})).toHaveLength(TEXTS);
    expect(await world.paths(node.url, { query: "volcano" })).toEqual([]);
    await node.stop();
  });

  test("a node whose own snapshot is older than the copy takes the copy", async () => {
    const [own, world] = [dataFolder(), await IndexWorld.create(first)];
    await world.write(1, "file", COPIED);
    const older = await startNode(env, own);
    await world.agrees(older.url);
    await older.stop();
    await world.write(1, "more", COPIED);
    const newer = await startNode(env);
    await world.agrees(newer.url);
    await newer.stop();
    await world.rewriteContents(STORED);
    const node = await startNode(env, own);
    await world.agrees(node.url);
    expect((await world.search(node.url)).contents).toEqual([COPIED]);
    await node.stop();
  });

  test("the copy of a deleted project is deleted, also when no node ran at the time", async () => {
    const [world, other] = [await copiedWorld(env), await copiedWorld(env)];
    const copied = () => [
      ...readdirSync(sharedFolder, { recursive: true }).map(String),
      ...bucket.objects.keys(),
    ];
    const isCopied = ({ project }: IndexWorld) =>
      copied().some((name) => name.includes(project.id));
    expect([isCopied(world), isCopied(other)]).toEqual([true, true]);
    await sql`DELETE FROM projects WHERE id = ${world.project.id}`;
    const node = await startNode(env);
    await until(() => !isCopied(world));
    expect(isCopied(other)).toBe(true);
    await sql`DELETE FROM projects WHERE id = ${other.project.id}`;
    await until(() => !isCopied(other));
    await node.stop();
  });
});

/** What can happen to the copy of a project. */
const DAMAGES: Readonly<Record<string, (keys: readonly string[]) => void>> = {
  "a flipped bit in every piece": (keys) => {
    for (const key of keys) {
      const bytes = bucket.objects.get(key) as Uint8Array;
      const at = bytes.length >> 1;
      bytes[at] = (bytes[at] as number) ^ 0x10;
    }
  },
  "pieces cut short": (keys) => {
    for (const key of keys)
      bucket.objects.set(key, (bucket.objects.get(key) as Uint8Array).slice(1));
  },
  "longer pieces": (keys) => {
    for (const key of keys) {
      bucket.objects.set(
        key,
        Buffer.concat([bucket.objects.get(key) as Uint8Array, Buffer.from("x")]),
      );
    }
  },
  "missing pieces": (keys) => {
    for (const key of keys) bucket.objects.delete(key);
  },
};
const isManifest = (key: string) => key.endsWith("/manifest.json");

describe("a copy that cannot be used", () => {
  const env = bucket.env();

  async function expectFromDatabase(world: IndexWorld, outcome: string): Promise<void> {
    const node = await startNode(env);
    await world.agrees(node.url);
    expect((await world.search(node.url)).contents).toEqual([STORED]);
    // The numbers are reported twice a second.
    await until(async () => (await copies(node.url, "download", outcome)) > 0);
    await node.stop();
    // What the node has uploaded at its end is whole again.
    await world.rewriteContents(COPIED);
    const next = await startNode(env);
    await world.agrees(next.url);
    expect((await world.search(next.url)).contents).toEqual([STORED]);
    await next.stop();
  }

  test.each(Object.entries(DAMAGES))("with %s is replaced from the database", async (_, damage) => {
    const world = await copiedWorld(env);
    damage(keysOf(world).filter((key) => !isManifest(key)));
    await expectFromDatabase(world, "damaged");
  });

  test("whose manifest is rubbish is replaced from the database", async () => {
    const world = await copiedWorld(env);
    for (const key of keysOf(world).filter(isManifest)) bucket.objects.set(key, Buffer.from("{{"));
    await expectFromDatabase(world, "damaged");
  });

  test("that belongs to another project is never shown", async () => {
    const [world, foreign] = [await copiedWorld(env), await copiedWorld(env)];
    for (const key of keysOf(world)) bucket.objects.delete(key);
    for (const key of keysOf(foreign)) {
      const bytes = bucket.objects.get(key) as Uint8Array;
      bucket.objects.set(key.replace(foreign.project.id, world.project.id), bytes);
    }
    await expectFromDatabase(world, "damaged");
  });
});

describe("while the bucket does not answer", () => {
  test("projects are loaded from the database, others are searched as before, and no secret is logged", async () => {
    const world = await copiedWorld(bucket.env());
    const proxy = startProxy("127.0.0.1", bucket.port);
    const env = {
      ...bucket.env(proxy.port),
      ...{ DATA_DIR: dataFolder(), INDEX_PRELOAD: "none", LOG_LEVEL: "warn" },
    };
    const node = await startApiProcess({ beside: first, env });
    await untilReady(node.url);
    const loaded = await copiedWorld({});
    await loaded.agrees(node.url);
    for (const fail of [proxy.stall, proxy.cut]) {
      fail();
      const failed = await copies(node.url, "download", "unavailable");
      const waiting = world.agrees(node.url);
      expect((await loaded.search(node.url)).status).toBe(200);
      await waiting;
      expect((await world.search(node.url)).contents).toEqual([STORED]);
      if (fail === proxy.stall) {
        await until(async () => (await copies(node.url, "download", "unavailable")) > failed);
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
  test("leaves the copy of before, which a new node begins with", async () => {
    const world = await copiedWorld(bucket.env());
    await world.rewriteContents(COPIED);
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
    await world.rewriteContents(STORED);
    const next = await startNode(bucket.env());
    await world.agrees(next.url);
    expect((await world.search(next.url)).contents).toContain(COPIED);
    await next.stop();
  });
});
