import { expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import { publishTexts } from "../../support/api/versions.ts";
import { untilReady } from "../../support/api/world.ts";
import { until } from "../../support/until.ts";

test("a project without vectors reports its documents, and that no change waits", async () => {
  const api = await sharedApi();
  await untilReady(api.url);
  const { sql } = api;
  const project = await api.project(await api.user());
  const environment = await addEnvironment(sql, project);
  await publishTexts(sql, project, environment, { "a.md": "lantern", "b.txt": "lantern" });
  const reported = async () => {
    const [row] = await sql<{ documents: number; pending: number }[]>`
      SELECT s.documents::int AS documents, (SELECT count(*)::int FROM change_log c
        WHERE c.project_id = s.project_id AND c.seq > s.seq) AS pending
      FROM index_state s WHERE s.project_id = ${project.id} AND s.dimension = 0`;
    return row;
  };
  await until("the document is reported", async () => (await reported())?.documents === 1);
  expect(await reported()).toEqual({ documents: 1, pending: 0 });
});
