import { describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ApiOptions, startApiProcess } from "../../support/api/api.ts";
import { IndexWorld, untilReady } from "../../support/api/index-world.ts";
import { dataFolder } from "../../support/processes/embedded.ts";

const BEFORE = "as it was when the snapshot was taken";
const AFTER = "as the database has it now";

type Service = Awaited<ReturnType<typeof startApiProcess>>;

/** A service that has indexed a project, saved its snapshot and stopped. */
async function snapshotTaken(): Promise<{ service: Service; world: IndexWorld; folder: string }> {
  const folder = dataFolder();
  const service = await startApiProcess({ env: { DATA_DIR: folder, LOG_LEVEL: "info" } });
  const world = await IndexWorld.create(service);
  await world.write(6, "file", BEFORE);
  await world.agrees(service.url);
  await stop(service);
  // The change log has no entry for this, so only a rebuilt index can show it.
  await world.rewriteContents(AFTER);
  return { service, world, folder };
}

async function stop(service: Service): Promise<void> {
  service.server.kill("SIGTERM");
  expect(await service.server.exited).toBe(0);
}

async function restart(service: Service, env: ApiOptions["env"]): Promise<Service> {
  const again = await startApiProcess({ beside: service, env: { LOG_LEVEL: "info", ...env } });
  await untilReady(again.url);
  return again;
}

const projectFolder = (folder: string, world: IndexWorld) =>
  join(folder, "index", "slot-0", world.project.id);

/** Every file of a vector snapshot. */
const filesOf = (folder: string) =>
  readdirSync(join(folder, "vector")).map((name) => join(folder, "vector", name));

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] as number) ^ 0x10;
  writeFileSync(file, bytes);
}

describe("a service that starts with a snapshot", () => {
  test("a snapshot is used without reading its chunks again, and later changes are indexed", async () => {
    const { service, world, folder } = await snapshotTaken();
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([BEFORE]);
    await stop(again);
    await world.write(2, "while-away");
    const third = await restart(service, { DATA_DIR: folder });
    await world.agrees(third.url);
    expect((await world.search(third.url)).contents).toContain(BEFORE);
  });

  test("a snapshot older than the pruned change log is brought up to date without reading its chunks", async () => {
    const { service, world, folder } = await snapshotTaken();
    await world.write(1, "while-away");
    await world.rewriteContents(AFTER);
    await service.sql`DELETE FROM change_log WHERE seq < (SELECT max(seq) FROM change_log)`;
    await world.write(1, "later");
    await service.sql`DELETE FROM change_log WHERE seq < (SELECT max(seq) FROM change_log)`;
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toContain(BEFORE);
  });

  const damages: Array<[what: string, damage: (folder: string) => void]> = [
    ["a flipped bit in every file", (folder) => filesOf(folder).forEach(flipByte)],
    ["a flipped bit in one file", (folder) => flipByte(filesOf(folder)[0] as string)],
    ["a file cut short", (folder) => truncateSync(filesOf(folder)[0] as string, 100)],
    [
      "empty files",
      (folder) => {
        for (const file of filesOf(folder)) truncateSync(file, 0);
      },
    ],
    ["a missing file", (folder) => rmSync(filesOf(folder)[0] as string)],
    ["no vectors at all", (folder) => rmSync(join(folder, "vector"), { recursive: true })],
    ["no manifest", (folder) => rmSync(join(folder, "manifest.json"))],
    ["a manifest of rubbish", (folder) => writeFileSync(join(folder, "manifest.json"), "{{")],
    ["a manifest of other contents", (folder) => flipByte(join(folder, "manifest.json"))],
  ];
  test.each(damages)("a snapshot with %s is rebuilt from the database", async (_, damage) => {
    const { service, world, folder } = await snapshotTaken();
    damage(projectFolder(folder, world));
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([AFTER]);
  });

  test("a snapshot of another database is not used", async () => {
    const { service, world, folder } = await snapshotTaken();
    await service.sql`UPDATE index_origin SET id = gen_random_uuid()`;
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([AFTER]);
  });

  test("a snapshot of a change log that diverged after a backup was restored is not used", async () => {
    const { service, world, folder } = await snapshotTaken();
    await service.sql`UPDATE change_log SET at = at + interval '1 second'`;
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([AFTER]);
  });

  test("a snapshot older than a requested rebuild is not used", async () => {
    const { service, world, folder } = await snapshotTaken();
    await service.sql`SELECT append_change(${world.project.id}, 'rebuild', ${world.project.id})`;
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([AFTER]);
  });

  test("the snapshot of a project that was deleted meanwhile is removed", async () => {
    const { service, world, folder } = await snapshotTaken();
    await service.sql`DELETE FROM projects WHERE id = ${world.project.id}`;
    const again = await restart(service, { DATA_DIR: folder });
    expect((await world.search(again.url)).status).toBe(404);
    expect(existsSync(projectFolder(folder, world))).toBe(false);
  });
});

describe("a running service", () => {
  test("a running service rebuilds an index on request", async () => {
    const { service, world, folder } = await snapshotTaken();
    const again = await restart(service, { DATA_DIR: folder });
    await world.agrees(again.url);
    await service.sql`SELECT append_change(${world.project.id}, 'rebuild', ${world.project.id})`;
    const deadline = Date.now() + 20_000;
    let found = await world.search(again.url);
    while (!found.contents.includes(AFTER) && Date.now() < deadline) {
      await Bun.sleep(20);
      found = await world.search(again.url);
    }
    expect(found.contents).toEqual([AFTER]);
    await world.agrees(again.url);
  });

  test("two services on one data directory keep separate snapshots", async () => {
    const { service, world, folder } = await snapshotTaken();
    const first = await restart(service, { DATA_DIR: folder });
    const second = await restart(service, { DATA_DIR: folder });
    await world.write(1, "for-both");
    await world.agrees(first.url);
    await world.agrees(second.url);
    await stop(first);
    await stop(second);
    const slots = readdirSync(join(folder, "index")).filter((name) => !name.endsWith(".lock"));
    expect(slots.sort()).toEqual(["slot-0", "slot-1"]);
    for (const slot of slots) {
      expect(existsSync(join(folder, "index", slot, world.project.id, "manifest.json"))).toBe(true);
    }
  });

  test("a snapshot that was copied from another machine is accepted", async () => {
    const { service, world, folder } = await snapshotTaken();
    const copy = dataFolder();
    cpSync(join(folder, "index"), join(copy, "index"), { recursive: true });
    const again = await restart(service, { DATA_DIR: copy });
    await world.agrees(again.url);
    expect((await world.search(again.url)).contents).toEqual([BEFORE]);
  });
});
