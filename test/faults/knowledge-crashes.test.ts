import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApiProcess } from "../../support/api/api.ts";
import { untilReady } from "../../support/api/index-world.ts";
import { KnowledgeWorld } from "../../support/api/knowledge-world.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { random } from "../../support/seed.ts";

type Service = Awaited<ReturnType<typeof startApiProcess>>;

const ROUNDS = 3;
const BEFORE = "glacier";
const AFTER = "volcano";

async function stopped(service: Service, signal: NodeJS.Signals): Promise<void> {
  service.server.kill(signal);
  await service.server.exited;
}

describe("the text index of a killed service", () => {
  test("a service killed while indexing restarts with the same text index as a fresh one", async () => {
    const folder = dataFolder();
    let service = await startApiProcess({ env: { DATA_DIR: folder } });
    const world = await KnowledgeWorld.create(service);
    await world.write(10);
    await world.agrees(service.url);
    for (let round = 0; round < ROUNDS; round++) {
      const writing = world.write(30, `round-${round % 2}`);
      await Bun.sleep(random() * 300);
      // SIGTERM leaves a snapshot for the next round; SIGKILL does not.
      await stopped(service, round % 2 === 0 ? "SIGKILL" : "SIGTERM");
      await writing;
      service = await startApiProcess({ beside: service, env: { DATA_DIR: folder } });
      await world.agrees(service.url);
    }
    const fresh = await startApiProcess({ beside: service });
    await world.agrees(fresh.url);
    await world.agreesWith(service.url, fresh.url);
  });
});

describe("text snapshots", () => {
  /** Stops a service that has left a snapshot, and changes the database afterwards. */
  async function snapshotTaken() {
    const folder = dataFolder();
    const service = await startApiProcess({ env: { DATA_DIR: folder } });
    const world = await KnowledgeWorld.create(service);
    await world.write(6);
    await world.rewrite(BEFORE);
    await untilReady(service.url);
    // The lookup makes sure that the project is loaded, and so part of the snapshot.
    await world.paths(service.url, {});
    await stopped(service, "SIGTERM");
    await world.rewrite(AFTER);
    return { service, world, folder };
  }

  const textFolder = (folder: string, world: KnowledgeWorld) =>
    join(folder, "index", "slot-0", world.project.id, "text");

  const filesOf = (folder: string, suffix: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(suffix))
      .map((name) => join(folder, name));

  function flipByte(file: string | undefined): void {
    if (file === undefined) throw new Error("the snapshot has no such file");
    const bytes = readFileSync(file);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] as number) ^ 0x10;
    writeFileSync(file, bytes);
  }

  async function restart(service: Service, folder: string): Promise<Service> {
    const again = await startApiProcess({ beside: service, env: { DATA_DIR: folder } });
    await untilReady(again.url);
    return again;
  }

  test("a restart with an intact text snapshot does not read the texts again", async () => {
    const { service, world, folder } = await snapshotTaken();
    const again = await restart(service, folder);
    expect(await world.paths(again.url, {})).toHaveLength(6);
    expect(await world.paths(again.url, { query: AFTER })).toEqual([]);
  });

  const damages: Array<[what: string, damage: (folder: string) => void]> = [
    ["was removed", (folder) => rmSync(folder, { recursive: true })],
    ["has lost a segment", (folder) => rmSync(filesOf(folder, ".segment")[0] as string)],
    ["has a flipped bit in a segment", (folder) => flipByte(filesOf(folder, ".segment")[0])],
    ["has a flipped bit in its manifest", (folder) => flipByte(filesOf(folder, ".json")[0])],
    [
      "has empty files",
      (folder) => {
        for (const file of filesOf(folder, "")) truncateSync(file, 0);
      },
    ],
    ["is truncated", (folder) => truncateSync(filesOf(folder, ".segment")[0] as string, 200)],
  ];
  test.each(damages)(
    "a service whose text snapshot %s rebuilds it from the database",
    async (_, damage) => {
      const { service, world, folder } = await snapshotTaken();
      damage(textFolder(folder, world));
      const again = await restart(service, folder);
      expect(await world.paths(again.url, { query: AFTER })).toHaveLength(6);
      expect(await world.paths(again.url, {})).toHaveLength(6);
      await world.write(3);
      await stopped(again, "SIGTERM");
      const third = await restart(service, folder);
      expect(await world.paths(third.url, { query: AFTER })).toHaveLength(3);
    },
  );
});
