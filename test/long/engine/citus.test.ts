import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { tablesOf } from "../../../src/pgvector/tables.ts";
import { addEnvironment } from "../../../support/accounts.ts";
import {
  attach,
  chunkOf,
  randomVector,
  type TestVersion,
  writeVersion,
} from "../../../support/api/versions.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import {
  best,
  chunksOf,
  copiesOf,
  createWorld,
  DIMENSION,
  eventually,
  idsOf,
  look,
  textVectors,
  untilComplete,
  writeFiles,
} from "./support.ts";
import { CITUS_VARIABLE, required } from "./variables.ts";

const PLACEMENTS = 4;
const CHUNKS = 12_000;
const REPLACEMENTS = 20;
const FILES = 40;

const url = required(CITUS_VARIABLE);
const engine = openDatabase(url, { connections: 2, patience: "command" });
onCleanup(() => engine.end({ timeout: 1 }));
const world = await createWorld({ VECTOR_DATABASE_URL: url, VECTOR_PLACEMENTS: `${PLACEMENTS}` });
const { api, sql, project } = world;

test("a project is divided among the workers, and searches find the best chunks of all", async () => {
  const vectors = textVectors(CHUNKS + 20, 11);
  const queries = vectors.splice(CHUNKS);
  const versions = await writeFiles(world, vectors);
  await untilComplete(world);
  const [copy] = await copiesOf(engine, project.id);
  expect(copy?.placements).toHaveLength(PLACEMENTS);
  const name = tablesOf(copy?.id as string).chunks(DIMENSION);
  const nodes = await engine<{ nodeport: number }[]>`
    SELECT DISTINCT nodeport FROM citus_shards WHERE table_name = ${name}::regclass`;
  expect(nodes.length).toBeGreaterThan(1);
  let found = 0;
  for (const query of queries) {
    const answer = await look(world, api, query);
    expect(answer.headers.get("x-search-plan")).toBe("graph");
    const wanted = new Set(best(chunksOf(versions), query, 10));
    found += idsOf(answer).filter((id) => wanted.has(id)).length;
    expect(idsOf(await look(world, api, query, { effort: "exact" }))).toEqual([...wanted]);
  }
  expect(found / (queries.length * 10)).toBeGreaterThanOrEqual(0.97);
});

test("a scope on many placements is never seen half replaced", async () => {
  const { id } = await addEnvironment(sql, project, "replaced");
  const vector = randomVector(DIMENSION, 1);
  const sets: TestVersion[][] = [];
  for (const side of ["a", "b"]) {
    const versions: TestVersion[] = [];
    for (let file = 0; file < FILES; file++) {
      versions.push(await writeVersion(sql, project, `${side}-${file}.md`, [chunkOf(vector)]));
    }
    sets.push(versions);
  }
  const expected = sets.map((versions) =>
    chunksOf(versions)
      .map((chunk) => chunk.id)
      .sort(),
  );
  const ask = () => look(world, api, vector, { environment: "replaced", limit: 100 });
  let isDone = false;
  const seen = new Set<number>();
  const read = async () => {
    while (!isDone) {
      const ids = idsOf(await ask()).sort();
      const side = ids.length === 0 ? -2 : expected.findIndex((wanted) => `${wanted}` === `${ids}`);
      expect(side, `${ids.length} chunks of both sides`).not.toBe(-1);
      seen.add(side);
    }
  };
  const write = async () => {
    for (let i = 1; i <= REPLACEMENTS; i++) {
      const versions = sets[i % 2] as TestVersion[];
      await sql.begin(async (tx) => {
        await tx`DELETE FROM environment_files WHERE environment_id = ${id}`;
        await attach(tx as never, project, id, versions);
      });
      await eventually("the new files are found", ask, ({ body }) => body.data.length === FILES);
      await Bun.sleep(100);
    }
    isDone = true;
  };
  await Promise.all([write(), read(), read()]);
  expect([...seen]).toEqual(expect.arrayContaining([0, 1]));
});
