import { test } from "bun:test";
import { startApiProcess } from "../../../support/api/api.ts";
import { TestWorld } from "../../../support/api/world.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { random } from "../../../support/seed.ts";

const ROUNDS = 2;
/** A service is killed at a random moment of this time after the begin of what it does. */
const INDEXING_MS = 400;
const SAVING_MS = 60;

type Service = Awaited<ReturnType<typeof startApiProcess>>;

async function killed(service: Service): Promise<void> {
  service.server.kill("SIGKILL");
  await service.server.exited;
}

/**
 * What can be interrupted: indexing, what follows once all is found, as the compaction of what was replaced, or
 * the end of a service, which saves snapshots.
 */
const MOMENTS = ["indexing", "compacting", "saving"] as const;

test("a service killed while indexing, compacting and saving snapshots returns exact results after a restart", async () => {
  const env = { DATA_DIR: dataFolder() };
  let service = await startApiProcess({ env });
  const world = await TestWorld.create(service);
  const texts = await TestWorld.create(service);
  for (let round = 0; round < ROUNDS; round++) {
    for (const moment of MOMENTS) {
      const writing = Promise.all([world.write(8), texts.writeTexts(20)]);
      if (moment !== "indexing") {
        await writing;
        for (const each of [world, texts]) await each.agrees(service.url);
      }
      if (moment === "saving") service.server.kill("SIGTERM");
      await Bun.sleep(random() * (moment === "saving" ? SAVING_MS : INDEXING_MS));
      await killed(service);
      await writing;
      service = await startApiProcess({ beside: service, env });
      for (const each of [world, texts]) await each.agrees(service.url);
    }
  }
  const fresh = await startApiProcess({ beside: service });
  for (const each of [world, texts]) await each.agrees(fresh.url);
  await texts.agreesWith(service.url, fresh.url);
});
