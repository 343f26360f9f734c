import { expect, test } from "bun:test";
import { tablesOf } from "../../../src/engine/pgvector/tables.ts";
import { startApi, startApiProcess } from "../../../support/api/api.ts";
import {
  attach,
  chunkOf,
  filledRelease,
  randomVector,
  writeVersion,
} from "../../../support/api/versions.ts";
import { createTestDatabase, startPostgres } from "../../../support/processes/postgres.ts";
import { startServer } from "../../../support/processes/process.ts";
import { startEngineServer } from "./server.ts";
import {
  best,
  chunksOf,
  copiesOf,
  DIMENSION,
  eventually,
  idsOf,
  look,
  storedRows,
  textVectors,
  untilComplete,
  type World,
  worldOf,
  writeFiles,
} from "./support.ts";
import { BIN_VARIABLE, required } from "./variables.ts";

const INTERRUPTED_CHUNKS = 9_000;
/** Rows before the kill: several slices. */
const STORED_ROWS = 4_000;

/** Adds a file with one chunk; returns a check that a service finds it. */
async function addFile({ sql, project, environment, ...world }: World, seed: number) {
  const chunk = chunkOf(randomVector(DIMENSION, seed));
  const version = await writeVersion(sql, project, `${seed}.md`, [chunk]);
  await attach(sql, project, environment.id, [version]);
  return async (of: World["api"]) => {
    const ask = () =>
      look({ sql, project, environment, ...world }, of, chunk.vector, { threshold: 0.99 });
    const answer = await eventually(
      "the chunk is found",
      ask,
      ({ status, body }) => status === 200 && body.data.length === 1,
    );
    expect(idsOf(answer)).toEqual([chunk.id]);
  };
}

test("when the node that writes vectors is killed, another one goes on", async () => {
  const first = await startApiProcess();
  const world = await worldOf(first);
  const second = await startApiProcess({ beside: first });
  await (await addFile(world, 1))(first);
  const added = [];
  for (let seed = 2; seed < 6; seed++) added.push(await addFile(world, seed));
  first.server.kill("SIGKILL");
  await first.server.exited;
  for (let seed = 6; seed < 8; seed++) added.push(await addFile(world, seed));
  for (const isFound of added) await isFound(second);
});

test("a first fill writes each row once, also when a kill interrupts it", async () => {
  const source = await startApi({ env: { VECTOR_DATABASE_URL: undefined } });
  const world = await worldOf(source);
  const { sql, project } = world;
  const vectors = textVectors(INTERRUPTED_CHUNKS + 1, 31);
  const [query] = vectors.splice(INTERRUPTED_CHUNKS) as [Float32Array];
  const chunks = chunksOf(await writeFiles(world, vectors));
  const first = await startApiProcess({ beside: source });
  const table = async () => {
    const [copy] = await copiesOf(sql, project.id);
    return tablesOf(copy?.id as string).chunks(DIMENSION);
  };
  const stored = () => storedRows(sql);
  await eventually("some rows are stored", stored, (rows) => rows > STORED_ROWS);
  first.server.kill("SIGKILL");
  await first.server.exited;
  const places = async () =>
    await sql<{ place: string }[]>`
      SELECT chunk_id || ' ' || ctid || ' ' || xmin AS place FROM ${sql(await table())}
      WHERE file_version_id IN (
        SELECT id FROM ${sql(tablesOf((await copiesOf(sql, project.id))[0]?.id as string).versions)})`;
  const uncoded = await sql`SELECT 1 FROM ${sql(await table())} WHERE code IS NULL`;
  expect(uncoded).toHaveLength(0);
  const before = await places();
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(INTERRUPTED_CHUNKS);
  const second = await startApiProcess({ beside: source });
  await untilComplete({ ...world, api: second });
  expect(await stored()).toBe(INTERRUPTED_CHUNKS);
  expect(await sql`SELECT 1 FROM ${sql(await table())}`).toHaveLength(INTERRUPTED_CHUNKS);
  const after = new Set((await places()).map(({ place }) => place));
  expect(before.filter(({ place }) => !after.has(place))).toEqual([]);
  const exact = await look(world, second, query, { effort: "exact" });
  expect(idsOf(exact)).toEqual(best(chunks, query, 10));
});

test("a scope that changes during a first fill shares file versions with it, and each row is written once", async () => {
  const source = await startApi({ env: { VECTOR_DATABASE_URL: undefined } });
  const world = await worldOf(source);
  const { sql, project } = world;
  const versions = await writeFiles(world, textVectors(INTERRUPTED_CHUNKS, 32));
  const filling = await startApiProcess({ beside: source, env: { LOG_LEVEL: "warn" } });
  const stored = () => storedRows(sql);
  await eventually("the first fill has begun", stored, (rows) => rows > 0);
  await filledRelease(sql, project, "v1", versions);
  await untilComplete({ ...world, api: filling });
  expect(await stored()).toBe(INTERRUPTED_CHUNKS);
  // On a busy machine statements are cancelled and repeated, but no version is added again.
  expect(filling.server.logs()).not.toContain("duplicate key");
});

test("a node that starts again finds what has changed meanwhile", async () => {
  const first = await startApi();
  const world = await worldOf(first);
  const before = await addFile(world, 1);
  await before(first);
  await first.stop();
  const meanwhile = await addFile(world, 2);
  const second = await startApi({ beside: first });
  await before(second);
  await meanwhile(second);
});

test("a search gets 503 while the vector database is stopped or frozen, and works again after", async () => {
  const server = await startEngineServer(required(BIN_VARIABLE));
  const api = await startApi({ env: { VECTOR_DATABASE_URL: server.url("postgres") } });
  const world = await worldOf(api);
  const isFound = await addFile(world, 1);
  await isFound(api);
  const ask = () => look(world, api, randomVector(DIMENSION, 1));
  const expectRefused = async () => {
    const answer = await ask();
    expect(answer.status).toBe(503);
    expect(answer.body.slug).toBe("dependency-unavailable");
    expect(answer.headers.get("retry-after")).not.toBeNull();
  };
  for (const fault of [server.stop, server.freeze]) {
    await using away = await fault();
    await expectRefused();
    await away.end();
    await isFound(api);
  }
  await (await addFile(world, 2))(api);
});

test("a start without the extension ends with a message that names the remedy", async () => {
  // The PostgreSQL of the npm dependencies has no extensions of others.
  const started = startServer({ env: { VECTOR_DATABASE_URL: await startPostgres() } });
  await expect(started).rejects.toThrow(
    /install pgvector 0\.8 or later.*start without VECTOR_DATABASE_URL/s,
  );
});

test("a schema of another installation is refused at the start, and stays as it is", async () => {
  const first = await startApi();
  const world = await worldOf(first);
  const isFound = await addFile(world, 1);
  await isFound(first);
  const own = await createTestDatabase();
  // Databases of tests are copies of one template.
  await own.sql`UPDATE database_identity SET id = gen_random_uuid()`;
  const env = { DATABASE_URL: own.url, VECTOR_DATABASE_URL: first.databaseUrl };
  const other = startApi({ env });
  await expect(other).rejects.toThrow("belongs to another Tessera database");
  await isFound(first);
});
