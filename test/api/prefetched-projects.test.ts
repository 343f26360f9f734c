import { test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { until } from "../../support/until.ts";

test("a project is indexed when it changes, before anybody has searched it", async () => {
  const api = await sharedApi();
  await untilReady(api.url);
  const world = await TestWorld.create(api);
  await world.write(2);
  const reported = async () => {
    const [row] = await api.sql`
      SELECT sum(vectors)::int AS vectors FROM index_state WHERE project_id = ${world.project.id}`;
    return row?.vectors;
  };
  await until("the service reports all vectors", async () => (await reported()) === 100);
  await world.agrees(api.url);
});
