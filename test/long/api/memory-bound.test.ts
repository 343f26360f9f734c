import { expect, test } from "bun:test";
import { startApi } from "../../../support/api/api.ts";
import { TestWorld, untilReady } from "../../../support/api/world.ts";

const PROJECTS = 6;
/** Less than three of the projects need. */
const BUDGET_BYTES = 2 ** 20;
/** Every project is searched more often than idle projects are unloaded. */
const PAUSE_MS = 350;
const ROUNDS = 3;

test("more projects than fit into the memory of the indexes, all in use, are searched in turn and never all in memory", async () => {
  const api = await startApi({ env: { INDEX_MEMORY_BYTES: String(BUDGET_BYTES) } });
  await untilReady(api.url);
  const loaded = async () => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    return Number(/^tessera_index_projects (\d+)/m.exec(text)?.[1]);
  };
  const worlds: TestWorld[] = [];
  for (let i = 0; i < PROJECTS; i++) {
    const world = await TestWorld.create(api);
    await world.write(2, `file-${i}`);
    worlds.push(world);
  }
  for (const world of worlds) await world.agrees(api.url);
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const world of worlds) {
      await Bun.sleep(PAUSE_MS);
      expect((await world.search(api.url)).status).toBe(200);
      samples.push(await loaded());
    }
  }
  // The first round unloads what was loaded before.
  expect(Math.max(...samples.slice(PROJECTS))).toBeLessThan(PROJECTS);
  for (const world of worlds) await world.agrees(api.url);
});
