/**
 * Figures of the engine pgvector: `npm run test:engine -- --figures`. Recall and CPU time per search by
 * the size of the scope, the rate of storing vectors, and how long publishing takes. CPU time is counted
 * for the service and for PostgreSQL separately, so it does not depend on what else the machine does.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { startApiProcess } from "../../support/api/api.ts";
import { attach, release, type TestVersion } from "../../support/api/versions.ts";
import { runProgram } from "../../support/processes/run-program.ts";
import {
  best,
  chunksOf,
  DIMENSION,
  eventually,
  idsOf,
  look,
  textVectors,
  untilComplete,
  type World,
  writeFiles,
} from "./support.ts";

const CHUNKS = Number(process.env["FIGURES_CHUNKS"] ?? 20_000);
const PUBLISHED = 5_000;
const QUERIES = 200;
const WARM_UP = 20;
/** Clock ticks per second in /proc/<pid>/stat. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of the server's sessions and workers. Those that have ended do not count. */
async function cpuSeconds({ sql }: World): Promise<number> {
  const [row] = await sql<{ data_directory: string }[]>`SHOW data_directory`;
  const [server] = readFileSync(join(row?.data_directory ?? "", "postmaster.pid"), "utf8").split(
    "\n",
  );
  let ticks = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[1] === server) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks / TICKS_PER_SECOND;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function measureScope(world: World, environment: string, versions: readonly TestVersion[]) {
  const queries = textVectors(CHUNKS + QUERIES, 1).slice(CHUNKS);
  const chunks = chunksOf(versions);
  for (const query of queries.slice(0, WARM_UP)) {
    await eventually(
      () => look(world, world.api, query, { environment }),
      ({ body }) => body.data?.length === 10,
    );
  }
  const before = await cpuSeconds(world);
  const startedAt = performance.now();
  const answers = [];
  for (const query of queries) answers.push(await look(world, world.api, query, { environment }));
  const took = performance.now() - startedAt;
  const cpu = ((await cpuSeconds(world)) - before) * 1_000;
  let found = 0;
  for (const [i, answer] of answers.entries()) {
    const wanted = new Set(best(chunks, queries[i] as Float32Array, 10));
    found += idsOf(answer).filter((id) => wanted.has(id)).length;
  }
  const plan = answers[0]?.headers.get("x-search-plan");
  const recall = (found / (QUERIES * 10)).toFixed(4);
  say(
    `${environment}: ${chunks.length} chunks, plan ${plan}, recall@10 ${recall}, ` +
      `${(cpu / QUERIES).toFixed(2)} ms CPU of PostgreSQL per search, ${(took / QUERIES).toFixed(2)} ms per search one by one`,
  );
}

await runProgram(async () => {
  const api = await startApiProcess({ env: { LOG_LEVEL: "info" } });
  const member = await api.user();
  const project = await api.project(member);
  const environment = await addEnvironment(api.sql, project);
  const world = { api, sql: api.sql, member, project, environment };
  const vectors = textVectors(CHUNKS, 1);
  const startedAt = performance.now();
  const versions = await writeFiles(world, vectors);
  const written = performance.now();
  const stored = async () => {
    const [row] = await api.sql<{ rows: number }[]>`
      SELECT coalesce(sum(rows), 0)::int AS rows FROM tessera_vectors.tables`;
    return row?.rows ?? 0;
  };
  await eventually(stored, (rows) => rows === CHUNKS);
  const storedAt = performance.now();
  await untilComplete(world);
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  say(
    `${CHUNKS} vectors of ${DIMENSION} dimensions: committed in ${seconds(written - startedAt)} s,`,
  );
  say(
    `stored ${seconds(storedAt - written)} s after that, with a graph ${seconds(performance.now() - storedAt)} s later`,
  );
  await measureScope(world, "production", versions);
  for (const share of [10, 100]) {
    const name = `one-in-${share}`;
    const { id } = await addEnvironment(api.sql, project, name);
    const part = versions.slice(0, Math.ceil(versions.length / share));
    await attach(api.sql, project, id, part);
    await measureScope(world, name, part);
  }
  const small = textVectors(PUBLISHED, 2).map((vector) => [vector]);
  const published = [];
  for (const [i, vector] of small.entries()) {
    published.push(...(await writeFiles(world, vector, `small-${i}`)));
  }
  await eventually(stored, (rows) => rows === CHUNKS + PUBLISHED);
  const target = await addRelease(api.sql, project, "v1");
  const begun = performance.now();
  await release(api.sql, project, target.id, published);
  const committed = performance.now();
  const path = `/projects/${project.slug}/releases/v1/search`;
  const [probe] = chunksOf(published);
  const body = { vector: Array.from(probe?.vector ?? []), dimension: DIMENSION, limit: 1 };
  await eventually(
    () => api.post(path, body, member),
    (answer) => answer.body.data?.length === 1,
  );
  say(
    `publishing ${PUBLISHED} versions: committed in ${Math.round(committed - begun)} ms, ` +
      `searchable ${Math.round(performance.now() - committed)} ms later`,
  );
});
