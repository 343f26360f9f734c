import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/client.ts";
import { startApiProcess } from "../../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../../support/api/versions.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { until } from "../../../support/until.ts";
import { startCitus, startWorker } from "./citus.ts";
import {
  chunksOf,
  copiesOf,
  DIMENSION,
  eventually,
  expectBest,
  idsOf,
  LIMIT,
  look,
  textVectors,
  untilComplete,
  type World,
  worldOf,
  writeFiles,
} from "./support.ts";
import { BIN_VARIABLE, required } from "./variables.ts";

const CHUNKS = 12_000;
const QUERIES = 40;
const BEGUN_ROWS = 1_000;

const bin = required(BIN_VARIABLE);
const { url, workers } = await startCitus(bin);
const engine = openDatabase(url, { connections: 2, patience: "command" });
onCleanup(() => engine.end({ timeout: 1 }));
const node = { env: { VECTOR_DATABASE_URL: url } };
const first = await startApiProcess(node);
const vectors = textVectors(CHUNKS + QUERIES, 21);
const queries = vectors.splice(CHUNKS);
const world = await worldOf(first);
const { sql, project } = world;
const chunks = chunksOf(await writeFiles(world, vectors));
await untilComplete(world);
// Searches ask this one, which is not the first to lead.
const second = await startApiProcess({ ...node, beside: first });

const tessera = (...args: string[]) =>
  callCommand(["vectors", ...args], {
    env: { DATABASE_URL: first.databaseUrl, VECTOR_DATABASE_URL: url },
  });

/** Starts a command as a process of its own, which is killed when `isMidway`. */
async function killMidway(args: readonly string[], isMidway: () => Promise<boolean>) {
  const program = Bun.spawn([process.execPath, "src/cli/main.ts", "vectors", ...args], {
    env: { ...process.env, DATABASE_URL: first.databaseUrl, VECTOR_DATABASE_URL: url },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await until("the command is midway", async () => (await isMidway()) || program.exitCode !== null);
  expect(program.exitCode).toBeNull();
  program.kill("SIGKILL");
  await program.exited;
}

/** Searches and changes that go on while `work` runs. Every answer must be whole. */
async function whileSearching(of: World["api"], seed: number, work: () => Promise<void>) {
  let isDone = false;
  let searches = 0;
  const added: string[] = [];
  const vector = randomVector(DIMENSION, seed);
  const search = async () => {
    // Each query is asked once at least, however slow the machine is.
    for (; !isDone || searches <= QUERIES; searches++) {
      const query = queries[searches % QUERIES] as Float32Array;
      expect(idsOf(await look(world, of, query))).toHaveLength(LIMIT);
    }
  };
  const change = async () => {
    for (let i = 0; !isDone; i++) {
      const chunk = chunkOf(vector);
      const version = await writeVersion(sql, project, `${seed}-${i}.md`, [chunk]);
      await attach(sql, project, world.environment.id, [version]);
      const ask = () => look(world, of, vector, { threshold: 0.99, limit: 100 });
      const wanted = [...added, chunk.id].slice(-100);
      await eventually("the new chunk is found", ask, (answer) => {
        // What was seen once is seen from then on, whichever copy or worker answers.
        const ids = new Set(idsOf(answer));
        for (const id of wanted.slice(0, -1)) expect(ids).toContain(id);
        return ids.has(chunk.id);
      });
      added.push(chunk.id);
      await Bun.sleep(200);
    }
  };
  const working = work().finally(() => {
    isDone = true;
  });
  await Promise.all([working, search(), search(), change()]);
  expect(searches).toBeGreaterThan(QUERIES);
  expect(added.length).toBeGreaterThan(0);
}

async function rowsOf(copyId: string): Promise<number> {
  const [row] = await engine<{ rows: number }[]>`
    SELECT coalesce(sum(rows), 0)::int AS rows FROM tessera_vectors.tables
    WHERE copy_id = ${copyId}`;
  return row?.rows ?? 0;
}

test("a project gets more placements while it is searched, although the command and the writing node are killed", async () => {
  const [before] = await copiesOf(engine, project.id);
  expect(before?.placements).toHaveLength(1);
  const args = ["placements", "--project", project.slug, "--count", "4"];
  const filling = async () => (await copiesOf(engine, project.id))[1];
  let begun: string | undefined;
  await whileSearching(second, 1, async () => {
    await killMidway(args, async () => {
      begun = (await filling())?.id;
      return begun !== undefined && (await rowsOf(begun)) >= BEGUN_ROWS;
    });
    first.server.kill("SIGKILL");
    await first.server.exited;
    const { status, stderr, stdout } = await tessera(...args);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain(`${project.slug}: 4 placements`);
  });
  const [after] = await copiesOf(engine, project.id);
  expect(after?.placements).toHaveLength(4);
  // The next node has gone on where the first one was killed.
  expect(after?.id).toBe(begun as string);
  await expectBest(world, second, queries, { chunks, plan: "graph" });
});

test("placements move to a new worker while the project is searched and changed", async () => {
  const third = await startWorker(bin);
  const own = async () => {
    const rows = await engine<{ nodeport: number; n: number }[]>`
      SELECT nodeport, count(*)::int AS n FROM citus_shards
      WHERE table_name::text LIKE 'tessera_vectors.v_%' GROUP BY 1`;
    return new Map(rows.map(({ nodeport, n }) => [nodeport, n]));
  };
  await whileSearching(second, 2, async () => {
    const added = await tessera("add-worker", `127.0.0.1:${third.port}`);
    expect(added.stderr).not.toContain("check that");
    expect(added.stdout).toContain("there are 3 workers");
    const planned = await tessera("rebalance", "--dry-run");
    expect(planned.stdout).toContain(`127.0.0.1:${third.port}`);
    await killMidway(["rebalance"], async () => {
      const moving = await engine`
        SELECT 1 FROM pg_stat_activity WHERE query LIKE '%citus_move_shard_placement%'
          AND application_name = 'tessera-cli' AND state = 'active'`;
      return moving.length > 0;
    });
    const { status, stderr, stdout } = await tessera("rebalance");
    expect(stderr).not.toContain("check that");
    expect(status).toBe(0);
    expect(stdout).toMatch(/moved \d placements?|nothing to move/);
  });
  expect((await own()).get(third.port)).toBeGreaterThan(0);
  expect((await own()).size).toBe(workers.length + 1);
  await expectBest(world, second, queries, { chunks, plan: "graph" });
  const { stdout } = await tessera("status");
  expect(stdout).toMatch(new RegExp(`${project.slug} +serving +4`));
});

test("what cannot be done is refused with its remedy", async () => {
  const unknown = await tessera("placements", "--project", "nowhere", "--count", "2");
  expect(unknown.stderr).toContain('there is no project "nowhere"');
  const many = await tessera("placements", "--project", project.slug, "--count", "257");
  expect(many.stderr).toContain("between 1 and 256");
  const dead = await tessera("add-worker", "127.0.0.1:1");
  expect(dead.status).toBe(1);
  expect(dead.stderr).toContain("check that the server runs");
});
