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
  const member = await api.user();
  const project = await api.project(member);
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
