import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApi, startApiProcess, type TestApi } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { until, untilPasses } from "../../support/until.ts";

const BEFORE = "as it was when the snapshot was taken";
const AFTER = "as the database has it now";
const FILES = 2;
const TEXT_AFTER = "volcano";
const TEXTS = 6;

const projectFolder = (folder: string, world: TestWorld) =>
  join(folder, "index", "slot-0", world.project.id);

/** The file of a part whose name matches. */
function partFile(folder: string, pattern: RegExp): string {
  const name = readdirSync(folder).find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`the snapshot has no part ${pattern}`);
  return join(folder, name);
}

function flipByte(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] as number) ^ 0x10;
  // Parts can only be read, also by their owner.
  rmSync(file);
  writeFileSync(file, bytes);
}

/** Damages of the snapshot of a project. `damaged-parts.test.ts` has every kind of damage. */
const DAMAGES: Readonly<Record<string, (folder: string) => void>> = {
  "a flipped bit in one file": (folder) => flipByte(partFile(folder, /^state-/)),
  "a manifest of rubbish": (folder) => writeFileSync(join(folder, "manifest.json"), "{{"),
};
const damages = Object.entries(DAMAGES);

/** Damages of the text snapshot of a project. */
const TEXT_DAMAGES: Readonly<Record<string, (folder: string) => void>> = {
  "has lost a segment": (folder) => rmSync(partFile(folder, /\.segment$/)),
};
const textDamages = Object.entries(TEXT_DAMAGES);

// One service has indexed a project for each case, saved their snapshots and stopped. The cases start
// services on copies of its folder.
const saved = dataFolder();
const first = await startApi({ env: { DATA_DIR: saved } });
const { sql } = first;
const world = await TestWorld.create(first);
const copied = await TestWorld.create(first);
const rebuilt = await TestWorld.create(first);
const deleted = await TestWorld.create(first);
const damaged = await Promise.all(damages.map(() => TestWorld.create(first)));
const worlds = [world, copied, rebuilt, deleted, ...damaged];
for (const each of worlds) await each.write(FILES, "file", BEFORE);
for (const each of worlds) await each.agrees(first.url);
const texts = await TestWorld.create(first);
const damagedTexts = await Promise.all(textDamages.map(() => TestWorld.create(first)));
for (const each of [texts, ...damagedTexts]) {
  await each.writeTexts(TEXTS);
  await each.agrees(first.url);
}
await first.stop();
// The end of a service saves as many projects as its time allows.
const isSaved = (each: TestWorld) => existsSync(join(projectFolder(saved, each), "manifest.json"));
await until("the snapshots of all projects are saved", async () => {
  const unsaved = [...worlds, texts, ...damagedTexts].filter((each) => !isSaved(each));
  if (unsaved.length === 0) return true;
  const again = await start(saved);
  for (const each of unsaved) await each.agrees(again.url);
  await again.stop();
  return false;
});
// The change log has no entry for this, so only a rebuilt index can show it.
for (const each of worlds) await each.rewriteChunks(AFTER);
for (const each of [texts, ...damagedTexts]) await each.rewriteTexts(TEXT_AFTER);

/** A folder with the snapshots, as if copied from another machine. */
function copyOfSnapshots(): string {
  const folder = dataFolder();
  cpSync(join(saved, "index"), join(folder, "index"), { recursive: true });
  return folder;
}

/** Starts a service on a folder, which takes little time in this process. */
async function start(folder: string): Promise<TestApi> {
  const service = await startApi({ beside: first, env: { DATA_DIR: folder } });
  await untilReady(service.url);
  return service;
}

const contents = async ({ url }: TestApi, of = world) => (await of.search(url)).contents;

describe("a service that starts with snapshots of which some are unusable", () => {
  const folder = copyOfSnapshots();
  for (const [i, [, damage]] of damages.entries()) {
    damage(projectFolder(folder, damaged[i] as TestWorld));
  }
  for (const [i, [, damage]] of textDamages.entries()) {
    damage(projectFolder(folder, damagedTexts[i] as TestWorld));
  }
  let starting: ReturnType<typeof startApiProcess> | undefined;
  const started = () => {
    starting ??= (async () => {
      await sql`SELECT append_change(${rebuilt.project.id}, 'rebuild', ${rebuilt.project.id})`;
      await sql`DELETE FROM projects WHERE id = ${deleted.project.id}`;
      const service = await startApiProcess({ beside: first, env: { DATA_DIR: folder } });
      await untilReady(service.url);
      return service;
    })();
    return starting;
  };

  test("a snapshot that was copied from another machine is used without reading its chunks again", async () => {
    const service = await started();
    await world.agrees(service.url);
    expect(await contents(service)).toEqual([BEFORE]);
  });

  test.each(damages.map(([what], i) => [what, damaged[i] as TestWorld] as const))(
    "a snapshot with %s is rebuilt from the database",
    async (_, of) => {
      const service = await started();
      await of.agrees(service.url);
      expect(await contents(service, of)).toEqual([AFTER]);
    },
  );

  test("an intact text snapshot is used without reading the texts again", async () => {
    const { url } = await started();
    expect(await texts.paths(url, {})).toHaveLength(TEXTS);
    expect(await texts.paths(url, { query: TEXT_AFTER })).toEqual([]);
  });

  test.each(textDamages.map(([what], i) => [what, damagedTexts[i] as TestWorld] as const))(
    "a text snapshot that %s is rebuilt from the database",
    async (_, of) => {
      const { url } = await started();
      expect(await of.paths(url, { query: TEXT_AFTER })).toHaveLength(TEXTS);
      expect(await of.paths(url, {})).toHaveLength(TEXTS);
    },
  );

  test("a snapshot older than a requested rebuild is not used", async () => {
    const service = await started();
    await rebuilt.agrees(service.url);
    expect(await contents(service, rebuilt)).toEqual([AFTER]);
  });

  test("the snapshot of a project that was deleted meanwhile is removed", async () => {
    const service = await started();
    expect((await deleted.search(service.url)).status).toBe(404);
    expect(existsSync(projectFolder(folder, deleted))).toBe(false);
  });

  test("a running service rebuilds an index on request", async () => {
    const service = await started();
    await copied.agrees(service.url);
    expect(await contents(service, copied)).toEqual([BEFORE]);
    await sql`SELECT append_change(${copied.project.id}, 'rebuild', ${copied.project.id})`;
    await untilPasses("the index is rebuilt", async () => {
      expect(await contents(service, copied)).toEqual([AFTER]);
    });
    await copied.agrees(service.url);
  });

  test("two services on one data directory keep separate snapshots, to which later changes are added", async () => {
    const [one, two] = [await started(), await start(folder)];
    await rebuilt.write(1, "for-both");
    for (const each of damagedTexts) await each.writeTexts(TEXTS / 2);
    for (const { url } of [one, two]) await rebuilt.agrees(url);
    one.server.kill("SIGTERM");
    expect(await one.server.exited).toBe(0);
    await two.stop();
    const slots = readdirSync(join(folder, "index")).filter((name) => !name.endsWith(".lock"));
    expect(slots.sort()).toEqual(["slot-0", "slot-1"]);
    for (const slot of slots) {
      const manifest = join(folder, "index", slot, rebuilt.project.id, "manifest.json");
      expect(existsSync(manifest)).toBe(true);
    }

    await world.write(2, "while-away");
    const third = await start(folder);
    await world.agrees(third.url);
    // Neither service has read the first chunks.
    expect(await contents(third)).toContain(BEFORE);
    for (const each of damagedTexts) {
      expect(await each.paths(third.url, { query: TEXT_AFTER })).toHaveLength(TEXTS / 2);
    }
    await third.stop();
  });
});

describe("a service whose database has changed since the snapshot", () => {
  const [pruned, other] = damaged as [TestWorld, TestWorld];

  test("a snapshot of a change log that diverged after a backup was restored is not used", async () => {
    await sql`UPDATE change_log SET at = at + interval '1 second'`;
    const service = await start(copyOfSnapshots());
    await other.agrees(service.url);
    expect(await contents(service, other)).toEqual([AFTER]);
    await service.stop();
    await sql`UPDATE change_log SET at = at - interval '1 second'`;
  });

  test("a snapshot of another database is not used", async () => {
    const [origin] = await sql<[{ id: string }]>`SELECT id FROM database_identity`;
    await sql`UPDATE database_identity SET id = gen_random_uuid()`;
    const service = await start(copyOfSnapshots());
    await other.agrees(service.url);
    expect(await contents(service, other)).toEqual([AFTER]);
    await service.stop();
    await sql`UPDATE database_identity SET id = ${origin.id}`;
  });

  test("a snapshot older than the pruned change log is brought up to date without reading its chunks", async () => {
    const prune = () => sql`DELETE FROM change_log WHERE seq < (SELECT max(seq) FROM change_log)`;
    await pruned.write(1, "while-away");
    await pruned.rewriteChunks(AFTER);
    await prune();
    await pruned.write(1, "later");
    await prune();
    const service = await start(copyOfSnapshots());
    await pruned.agrees(service.url);
    expect(await contents(service, pruned)).toContain(BEFORE);
    await service.stop();
  });
});
