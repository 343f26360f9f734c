import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { tablesOf } from "../../../src/engine/pgvector/tables.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { callCommand } from "../../../support/processes/command.ts";
import {
  best,
  chunksOf,
  copiesOf,
  createWorld,
  DIMENSION,
  eventually,
  expectBest,
  idsOf,
  LIMIT,
  look,
  replaceWhileSearched,
  textVectors,
  untilComplete,
  writeFiles,
} from "./support.ts";
import { CITUS_VARIABLE, required } from "./variables.ts";

const PLACEMENTS = 4;
const CHUNKS = 12_000;

const url = required(CITUS_VARIABLE);
const engine = openDatabase(url, { connections: 2, patience: "command" });
onCleanup(() => engine.end({ timeout: 1 }));
const world = await createWorld({ VECTOR_DATABASE_URL: url });
const { api, project } = world;
await callCommand(
  ["vectors", "placements", "--project", project.slug, "--count", `${PLACEMENTS}`],
  { env: { DATABASE_URL: api.databaseUrl, VECTOR_DATABASE_URL: url } },
);

test("a project is divided among the workers, and searches find the best chunks of all", async () => {
  const vectors = textVectors(CHUNKS + 20, 11);
  const queries = vectors.splice(CHUNKS);
  const versions = await writeFiles(world, vectors);
  await untilComplete(world);
  const [copy] = await eventually(
    "searches read a copy with all placements",
    () => copiesOf(engine, project.id),
    ([serving]) => serving?.placements.length === PLACEMENTS,
  );
  const name = tablesOf(copy?.id as string).chunks(DIMENSION);
  const nodes = await engine<{ nodeport: number }[]>`
    SELECT DISTINCT nodeport FROM citus_shards WHERE table_name = ${name}::regclass`;
  expect(nodes.length).toBeGreaterThan(1);
  const chunks = chunksOf(versions);
  await expectBest(world, api, queries, { chunks, plan: "graph" });
  for (const query of queries) {
    const exact = await look(world, api, query, { effort: "exact" });
    expect(idsOf(exact)).toEqual(best(chunks, query, LIMIT));
  }
});

test("a scope on many placements is never seen half replaced", async () => {
  await replaceWhileSearched(world, [api, api]);
});
