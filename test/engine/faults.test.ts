import { expect, test } from "bun:test";
import { startApi, startApiProcess } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startServer } from "../../support/processes/process.ts";
import { startEngineServer } from "./server.ts";
import { DIMENSION, eventually, idsOf, look, type World, worldOf } from "./support.ts";
import { BIN_VARIABLE, required } from "./variables.ts";

/** Adds a file with one chunk; returns a check that a service finds it. */
async function addFile({ sql, project, environment, ...world }: World, seed: number) {
  const chunk = chunkOf(randomVector(DIMENSION, seed));
  const version = await writeVersion(sql, project, `${seed}.md`, [chunk]);
  await attach(sql, project, environment.id, [version]);
  return async (of: World["api"]) => {
    const ask = () =>
      look({ sql, project, environment, ...world }, of, chunk.vector, { threshold: 0.99 });
    const answer = await eventually(
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
  await server.stop();
  await expectRefused();
  await server.start();
  await isFound(api);
  await server.freeze();
  await expectRefused();
  await server.thaw();
  await isFound(api);
  await (await addFile(world, 2))(api);
});

test("a start without the extension ends with a message that names the remedy", async () => {
  // The embedded PostgreSQL, which starts without DATABASE_URL, has no extensions of others.
  const started = startServer({ env: { SEARCH_ENGINE: "pgvector" } });
  await expect(started).rejects.toThrow(/install pgvector 0\.8 or later.*SEARCH_ENGINE=embedded/s);
});

test("a schema of another installation is refused at the start, and stays as it is", async () => {
  const first = await startApi();
  const world = await worldOf(first);
  const isFound = await addFile(world, 1);
  await isFound(first);
  const own = await createTestDatabase();
  // Databases of tests are copies of one template.
  await own.sql`UPDATE index_origin SET id = gen_random_uuid()`;
  const env = { DATABASE_URL: own.url, VECTOR_DATABASE_URL: first.databaseUrl };
  const other = startApi({ env });
  await expect(other).rejects.toThrow("belongs to another Tessera database");
  await isFound(first);
});
