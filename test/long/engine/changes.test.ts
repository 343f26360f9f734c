import { expect, test } from "bun:test";
import { addEnvironment } from "../../../support/accounts.ts";
import { startApi } from "../../../support/api/api.ts";
import {
  attach,
  chunkOf,
  randomVector,
  type TestVersion,
  writeVersion,
} from "../../../support/api/versions.ts";
import {
  chunksOf,
  copiesOf,
  createWorld,
  DIMENSION,
  eventually,
  idsOf,
  look,
  textVectors,
  writeFiles,
} from "./support.ts";

const FILES = 40;
const REPLACEMENTS = 25;
const READERS = 3;

const world = await createWorld();
const { api, sql, project } = world;

test("a scope that is replaced in one transaction is never seen half done, on any node", async () => {
  const second = await startApi({ beside: api });
  const { id } = await addEnvironment(sql, project, "replaced");
  const vector = randomVector(DIMENSION, 1);
  // Every file has one chunk, and all of them are found by every search.
  const sets: TestVersion[][] = [];
  for (const side of ["a", "b"]) {
    const versions: TestVersion[] = [];
    for (let file = 0; file < FILES; file++) {
      versions.push(await writeVersion(sql, project, `${side}-${file}.md`, [chunkOf(vector)]));
    }
    sets.push(versions);
  }
  const replace = (versions: TestVersion[]) =>
    sql.begin(async (tx) => {
      await tx`DELETE FROM environment_files WHERE environment_id = ${id}`;
      await attach(tx as never, project, id, versions);
    });
  const expected = sets.map((versions) =>
    chunksOf(versions)
      .map((chunk) => chunk.id)
      .sort(),
  );
  await replace(sets[0] as TestVersion[]);
  const ask = (of: typeof api) => look(world, of, vector, { environment: "replaced", limit: 100 });
  await eventually(
    "the environment is searchable",
    () => ask(api),
    ({ body }) => body.data.length > 0,
  );
  let isDone = false;
  let reads = 0;
  const seen = new Set<number>();
  const read = async (of: typeof api) => {
    while (!isDone) {
      const ids = idsOf(await ask(of)).sort();
      const side = expected.findIndex((wanted) => `${wanted}` === `${ids}`);
      expect(side, `${ids.length} chunks of both sides`).toBeGreaterThanOrEqual(0);
      seen.add(side);
      reads++;
    }
  };
  const write = async () => {
    for (let i = 1; i <= REPLACEMENTS; i++) {
      await replace(sets[i % 2] as TestVersion[]);
      await Bun.sleep(50);
    }
    isDone = true;
  };
  const readers = Array.from({ length: READERS }, (_, i) => read(i % 2 === 0 ? api : second));
  await Promise.all([write(), ...readers]);
  expect(reads).toBeGreaterThan(REPLACEMENTS);
  expect(seen.size).toBe(2);
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
