import { expect, test } from "bun:test";
import { addEnvironment } from "../../../support/accounts.ts";
import { startApi } from "../../../support/api/api.ts";
import {
  chunksOf,
  copiesOf,
  createWorld,
  eventually,
  idsOf,
  look,
  replaceWhileSearched,
  textVectors,
  writeFiles,
} from "./support.ts";

const world = await createWorld();
const { api, sql, project } = world;

test("a scope that is replaced in one transaction is never seen half done, on any node", async () => {
  const second = await startApi({ beside: api });
  await replaceWhileSearched(world, [api, second, api]);
});

test("a deleted project leaves no table, and its search answers 404", async () => {
  const other = { ...world, project: await api.project(world.member) };
  const environment = await addEnvironment(sql, other.project);
  await writeFiles({ ...other, environment }, textVectors(10, 3));
  const [query] = textVectors(1, 4) as [Float32Array];
  await eventually(
    "the project is searchable",
    () => look(other, api, query),
    ({ body }) => body.data.length > 0,
  );
  const [copy] = await copiesOf(sql, other.project.id);
  const name = `%${copy?.id.replaceAll("-", "")}%`;
  const tables = () => sql`SELECT 1 FROM pg_class WHERE relname LIKE ${name}`;
  expect((await tables()).length).toBeGreaterThan(0);
  await sql`DELETE FROM projects WHERE id = ${other.project.id}`;
  await eventually("the tables are gone", tables, (rows) => rows.length === 0);
  expect((await look(other, api, query)).status).toBe(404);
});

test("a rebuilt project is searchable all the time, and then from what was read again", async () => {
  const versions = await writeFiles(world, textVectors(100, 5), "rebuilt");
  const [wanted] = chunksOf(versions);
  const ask = () => look(world, api, wanted?.vector as Float32Array, { limit: 1 });
  await eventually("the chunk is found", ask, ({ body }) => {
    return body.data?.[0]?.chunk.id === wanted?.id;
  });
  const [before] = await copiesOf(sql, project.id);
  await sql`SELECT append_change(${project.id}, 'rebuild', ${project.id})`;
  await eventually(
    "another copy serves",
    async () => {
      expect(idsOf(await ask())).toEqual([wanted?.id as string]);
      return (await copiesOf(sql, project.id))[0];
    },
    (copy) => copy?.id !== before?.id,
  );
  expect(idsOf(await ask())).toEqual([wanted?.id as string]);
});
