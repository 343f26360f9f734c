import { expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import {
  attach,
  chunkOf,
  nearVector,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { untilReady } from "../../support/api/world.ts";
import { untilPasses } from "../../support/until.ts";

const DIMENSION = 768;

test("after a database has lost its last commits and others took their place, searches see its current state", async () => {
  const api = await startApi();
  const { sql, url } = api;
  await untilReady(url);
  const { owner: member, project } = await api.ownedProject();
  const environment = await addEnvironment(sql, project);
  const wanted = randomVector(DIMENSION, 1);
  const chunks = [2, 3].map((seed) => chunkOf(nearVector(wanted, 0.1, seed)));
  const found = async (): Promise<string[]> => {
    const path = `/projects/${project.slug}/environments/production/search`;
    const response = await fetch(new URL(path, url), {
      method: "POST",
      headers: { ...member.headers, "content-type": "application/json" },
      body: JSON.stringify({
        vector: Array.from(wanted),
        dimension: DIMENSION,
      }),
    });
    const body = (await response.json()) as { data: Array<{ chunk: { id: string } }> };
    return body.data.map(({ chunk }) => chunk.id).sort();
  };
  const untilFound = (ids: readonly string[]) =>
    untilPasses(`a search finds ${ids.length}`, async () =>
      expect(await found()).toEqual([...ids]),
    );
  for (const [i, chunk] of chunks.entries()) {
    await sql.begin(async (tx) => {
      const version = await writeVersion(tx as never, project, `${i}.md`, [chunk]);
      await attach(tx as never, project, environment.id, [version]);
    });
  }
  const ids = chunks.map(({ id }) => id);
  await untilFound(ids.toSorted());

  // What a standby shows that lacked the last commit and has taken another one since.
  await sql.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`DELETE FROM environment_files f USING files WHERE files.id = f.file_id
      AND files.path = '1.md' AND f.environment_id = ${environment.id}`;
    await tx`UPDATE change_log SET at = at + interval '1 second', ref = gen_random_uuid()
      WHERE seq = (SELECT max(seq) FROM change_log)`;
  });
  await untilFound([ids[0] as string]);
});

test("a change that a fail-over has lost is no longer waited for, and nothing claims to lack it", async () => {
  const api = await startApi();
  const { sql, url } = api;
  await untilReady(url);
  const { owner: member, project } = await api.ownedProject();
  await addEnvironment(sql, project);
  const put = async (path: string) => {
    const { headers } = await api.putText(member, project, path, "# A");
    return headers.get("x-change");
  };
  await put("a.md");
  const change = await put("b.md");
  const lookup = (query = "") =>
    api.send("POST", `/projects/${project.slug}/knowledge/lookup${query}`, {
      as: member,
      json: { query: "absent" },
    });
  expect((await lookup(`?min_change=${change}`)).status).toBe(200);
  await sql`DELETE FROM change_log WHERE seq = (SELECT max(seq) FROM change_log)`;
  const refused = await lookup(`?min_change=${change}`);
  expect([refused.status, refused.body.errors[0].field]).toEqual([400, "min_change"]);
  await untilPasses("the index is that of the log", async () =>
    expect((await lookup()).headers.get("x-index-behind")).toBeNull(),
  );
  // Another change gets the number of the lost one.
  await sql`
    SELECT setval(pg_get_serial_sequence('change_log', 'seq'), (SELECT max(seq) FROM change_log))`;
  await sql`SELECT append_change(${project.id}, 'rebuild', ${project.id})`;
  expect((await lookup(`?min_change=${change}`)).status).toBe(400);
});
