/**
 * Figures of the engine pgvector: `npm run test:engine -- --figures`. Recall and CPU time per search by
 * the size of the scope, beside pgvector's own index over the same vectors at the same recall; the rate of storing
 * vectors, and how long publishing takes. CPU time is counted for the service and for PostgreSQL separately, so it
 * does not depend much on what else the machine does.
 *
 * Variables choose the data: FIGURES_KIND (`text`, `clusters`, or the path of a file with little-endian float16
 * vectors), FIGURES_CHUNKS and FIGURES_DIMENSION.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../../../bench/harness/statistics.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { vectorText } from "../../../src/engine/pgvector/codes.ts";
import { tablesOf } from "../../../src/engine/pgvector/tables.ts";
import { addEnvironment, addRelease } from "../../../support/accounts.ts";
import { startApiProcess } from "../../../support/api/api.ts";
import {
  attach,
  release,
  type TestChunk,
  type TestVersion,
} from "../../../support/api/versions.ts";
import { runProgram } from "../../../support/cleanup.ts";
import { makeVectors } from "../../../support/vectors.ts";
import {
  chunksOf,
  copiesOf,
  eventually,
  idsOf,
  look,
  recallOf,
  storedRows,
  untilComplete,
  type World,
  worldOf,
  writeFiles,
} from "./support.ts";

const CHUNKS = Number(process.env["FIGURES_CHUNKS"] ?? 20_000);
const DIMENSION = Number(process.env["FIGURES_DIMENSION"] ?? 768);
const KIND = process.env["FIGURES_KIND"] ?? "text";
const PUBLISHED = 5_000;
const QUERIES = 200;
const WARM_UP = 20;
/** The CPU time is the median of batches, because now and then a live search is repeated exactly to measure recall. */
const BATCH = 20;

/** CPU seconds of the server's sessions and workers. Those that have ended do not count. */
async function cpuSeconds({ sql }: World): Promise<number> {
  const [row] = await sql<{ data_directory: string }[]>`SHOW data_directory`;
  const [server] = readFileSync(join(row?.data_directory ?? "", "postmaster.pid"), "utf8").split(
    "\n",
  );
  let nanoseconds = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (parent !== server) continue;
      nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return nanoseconds / 1e9;
}

/** The vectors of the chunks and, after them, those of the queries. */
function readVectors(count: number): Float32Array<ArrayBuffer>[] {
  const all =
    KIND === "text" || KIND === "clusters"
      ? makeVectors(KIND, count, DIMENSION, 1)
      : Float32Array.from(new Float16Array(readFileSync(KIND).buffer.slice(0)));
  const rows = Math.min(count, all.length / DIMENSION);
  return Array.from({ length: rows }, (_, i) => all.slice(i * DIMENSION, (i + 1) * DIMENSION));
}

const all = readVectors(CHUNKS + QUERIES);
const queries = all.splice(all.length - QUERIES);

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Returns the recall. */
async function measureScope(
  world: World,
  environment: string,
  versions: readonly TestVersion[],
): Promise<number> {
  const chunks = chunksOf(versions);
  for (const query of queries.slice(0, WARM_UP)) {
    await eventually(
      "the environment is searchable",
      () => look(world, world.api, query, { environment }),
      ({ body }) => body.data?.length === 10,
    );
  }
  const startedAt = performance.now();
  const answers: Awaited<ReturnType<typeof look>>[] = [];
  const times: number[] = [];
  for (let first = 0; first < QUERIES; first += BATCH) {
    const before = await cpuSeconds(world);
    for (const query of queries.slice(first, first + BATCH)) {
      answers.push(await look(world, world.api, query, { environment }));
    }
    times.push(((await cpuSeconds(world)) - before) * 1_000);
  }
  const took = performance.now() - startedAt;
  const cpu = median(times) * (QUERIES / BATCH);
  const plan = answers[0]?.headers.get("x-search-plan");
  const recall = recallOf(answers.map(idsOf), queries, chunks);
  say(
    `${environment}: ${chunks.length} chunks, plan ${plan}, recall@10 ${recall.toFixed(4)}, ` +
      `${(cpu / QUERIES).toFixed(2)} ms CPU of PostgreSQL per search, ${(took / QUERIES).toFixed(2)} ms per search one by one`,
  );
  return recall;
}

/** pgvector's own index over the same vectors, with the least effort that reaches a recall. */
async function measureBaseline(world: World, recall: number, chunks: readonly TestChunk[]) {
  const { project } = world;
  const [copy] = await copiesOf(world.sql, project.id);
  const stored = tablesOf(copy?.id as string).chunks(DIMENSION);
  const sql = openDatabase(world.api.databaseUrl, { connections: 1, statementTimeoutMs: 0 });
  await sql.unsafe(`CREATE TABLE baseline AS SELECT chunk_id, embedding FROM ${stored}`);
  await sql.unsafe("CREATE INDEX ON baseline USING hnsw (embedding vector_cosine_ops)");
  const statement = `SELECT chunk_id FROM baseline ORDER BY embedding <=> $1::vector(${DIMENSION}) LIMIT 10`;
  const search = async (query: Float32Array) => {
    const rows = await sql.unsafe<{ chunk_id: string }[]>(statement, [vectorText(query)], {
      prepare: true,
    });
    return rows.map(({ chunk_id }) => chunk_id);
  };
  for (const ef of [20, 40, 60, 80, 120, 160, 200, 300, 400, 600, 1_000]) {
    await sql.unsafe(`SET hnsw.ef_search = ${ef}`);
    for (const query of queries.slice(0, WARM_UP)) await search(query);
    const before = await cpuSeconds(world);
    const found: string[][] = [];
    for (const query of queries) found.push(await search(query));
    const cpu = ((await cpuSeconds(world)) - before) * 1_000;
    const own = recallOf(found, queries, chunks);
    if (own < recall && ef < 1_000) continue;
    say(
      `pgvector's own index over vectors, ef_search ${ef}: recall@10 ${own.toFixed(4)}, ` +
        `${(cpu / QUERIES).toFixed(2)} ms CPU of PostgreSQL per search`,
    );
    break;
  }
  await sql.unsafe("DROP TABLE baseline");
  await sql.end();
}

await runProgram(async () => {
  const api = await startApiProcess({ env: { LOG_LEVEL: "info" } });
  const world = await worldOf(api);
  const { member, project } = world;
  const vectors = all;
  const startedAt = performance.now();
  const versions = await writeFiles(world, vectors);
  const written = performance.now();
  const stored = () => storedRows(api.sql);
  await eventually("all rows are stored", stored, (rows) => rows === vectors.length);
  const storedAt = performance.now();
  await untilComplete(world);
  const measured = async () => {
    const [row] = await api.sql<{ candidates: number[] | null }[]>`
      SELECT candidates FROM tessera_vectors.tables`;
    return row?.candidates ?? null;
  };
  const candidates = await eventually("the table is calibrated", measured, (each) => each !== null);
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  say(
    `${vectors.length} vectors of ${DIMENSION} dimensions (${KIND}): committed in ${seconds(written - startedAt)} s,`,
  );
  say(
    `stored ${seconds(storedAt - written)} s after that, with a graph ${seconds(performance.now() - storedAt)} s later`,
  );
  say(`candidates for the limits 10 and 100: ${candidates?.join(", ")}`);
  const recall = await measureScope(world, "production", versions);
  await measureBaseline(world, recall, chunksOf(versions));
  for (const share of [10, 100]) {
    const name = `one-in-${share}`;
    const { id } = await addEnvironment(api.sql, project, name);
    const part = versions.slice(0, Math.ceil(versions.length / share));
    await attach(api.sql, project, id, part);
    await measureScope(world, name, part);
  }
  const small = vectors.slice(0, PUBLISHED).map((vector) => [vector]);
  const published = [];
  for (const [i, vector] of small.entries()) {
    published.push(...(await writeFiles(world, vector, `small-${i}`)));
  }
  const wanted = vectors.length + small.length;
  await eventually("the small files are stored", stored, (rows) => rows === wanted);
  const target = await addRelease(api.sql, project, "v1");
  const begun = performance.now();
  await release(api.sql, project, target.id, published);
  const committed = performance.now();
  const path = `/projects/${project.slug}/releases/v1/search`;
  const [probe] = chunksOf(published);
  const body = { vector: Array.from(probe?.vector ?? []), dimension: DIMENSION, limit: 1 };
  await eventually(
    "the release is searchable",
    () => api.post(path, body, member),
    (answer) => answer.body.data?.length === 1,
  );
  say(
    `publishing ${small.length} versions: committed in ${Math.round(committed - begun)} ms, ` +
      `searchable ${Math.round(performance.now() - committed)} ms later`,
  );
});
