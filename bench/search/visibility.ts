/**
 * How long committed changes take to show up in searches while one project imports in bulk.
 *
 *   bun bench/search/visibility.ts [--chunks 50000] [--dimension 1536] [--transaction 2000]
 *                                  [--chunks-a-file 10] [--after 10]
 *
 * The real server on an embedded PostgreSQL. One connection writes a large environment in
 * transactions. Meanwhile another commits one small file after the other: to another project, to
 * another environment of the same project, and into the large environment itself. Each is searched
 * for until it is found; the clock runs from the end of the COMMIT. Prints the times, and what held
 * up the indexing thread for longest.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateKey, hashKey, parseKey } from "../../src/auth/key-format.ts";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { makeVectors } from "../../support/vectors.ts";

const { values } = parseArgs({
  options: {
    chunks: { type: "string", default: "50000" },
    dimension: { type: "string", default: "1536" },
    transaction: { type: "string", default: "2000" },
    "chunks-a-file": { type: "string", default: "10" },
    /** Seconds of small commits after the import has ended, while the graph is being built. */
    after: { type: "string", default: "10" },
  },
});
const CHUNKS = Number(values.chunks);
const DIMENSION = Number(values.dimension);
const TRANSACTION = Number(values.transaction);
const CHUNKS_A_FILE = Number(values["chunks-a-file"]);
const AFTER_MS = Number(values.after) * 1000;
const ROOT = join(import.meta.dir, "..", "..");
const POLL_MS = 5;
const PAUSE_MS = 20;
const TEXT_CHARS = 500;
const PATIENCE_MS = 60_000;

interface Target {
  readonly name: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly environment: string;
}

/** The real server, whose log at the level `debug` tells of long steps. */
class Server {
  readonly steps = new Map<string, number>();
  url = "";

  private constructor(private readonly child: Bun.Subprocess<"ignore", "pipe", "pipe">) {}

  static async start(dataDir: string): Promise<Server> {
    const child = Bun.spawn([process.execPath, "src/main.ts"], {
      cwd: ROOT,
      env: { ...process.env, PORT: "0", DEMO: "off", LOG_LEVEL: "debug", DATA_DIR: dataDir },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const server = new Server(child);
    void server.#readLog();
    let text = "";
    for await (const bytes of child.stdout) {
      text += new TextDecoder().decode(bytes);
      const address = /listening on (\S+)/.exec(text)?.[1];
      if (address === undefined) continue;
      server.url = address.replace(/\/$/, "");
      break;
    }
    while ((await fetch(`${server.url}/readyz`)).status !== 200) await Bun.sleep(PAUSE_MS);
    return server;
  }

  async #readLog(): Promise<void> {
    let rest = "";
    for await (const bytes of this.child.stderr) {
      const lines = (rest + new TextDecoder().decode(bytes)).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) this.#note(line);
    }
  }

  #note(line: string): void {
    const entry = line.startsWith("{") ? JSON.parse(line) : { msg: line };
    if (entry.steps === undefined) {
      if (entry.level > 30 || !line.startsWith("{")) console.error(line);
      return;
    }
    for (const [name, took] of Object.entries(entry.steps as Record<string, number>)) {
      this.steps.set(name, Math.max(took, this.steps.get(name) ?? 0));
    }
  }

  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.exited;
  }
}

async function writeProject(sql: Sql, userId: string, slug: string): Promise<string> {
  const id = crypto.randomUUID();
  await sql`INSERT INTO projects (id, slug, name) VALUES (${id}, ${slug}, ${slug})`;
  await sql`INSERT INTO memberships (project_id, user_id) VALUES (${id}, ${userId})`;
  return id;
}

async function writeTarget(
  sql: Sql,
  name: string,
  projectId: string,
  environment: string,
): Promise<Target> {
  const environmentId = crypto.randomUUID();
  await sql`INSERT INTO environments (id, project_id, name)
    VALUES (${environmentId}, ${projectId}, ${environment})`;
  return { name, projectId, environmentId, environment };
}

let fileCount = 0;

/** Writes files of new chunks into an environment, in one transaction. Returns after the commit. */
async function commit(sql: Sql, target: Target, vectors: Float32Array, aFile: number) {
  const count = vectors.length / DIMENSION;
  const files = Array.from({ length: Math.ceil(count / aFile) }, () => ({
    id: crypto.randomUUID(),
    version: crypto.randomUUID(),
    path: `docs/file-${fileCount++}.md`,
  }));
  const of = (chunk: number) => files[Math.floor(chunk / aFile)] as (typeof files)[number];
  const chunks = Array.from({ length: count }, (_, i) => i);
  const bytes = Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  const embeddings = chunks.map((i) =>
    bytes.subarray(i * DIMENSION * 4, (i + 1) * DIMENSION * 4).toString("base64"),
  );
  const ids = files.map((file) => file.id);
  const versions = files.map((file) => file.version);
  await sql.begin(async (tx) => {
    await tx`INSERT INTO files (id, project_id, path)
      SELECT u.id, ${target.projectId}, u.path
      FROM unnest(${ids}::uuid[], ${files.map((file) => file.path)}::text[]) AS u (id, path)`;
    await tx`INSERT INTO file_versions (id, project_id, file_id, version_key, chunk_count)
      SELECT u.version, ${target.projectId}, u.file, '1', ${aFile}
      FROM unnest(${ids}::uuid[], ${versions}::uuid[]) AS u (file, version)`;
    await tx`INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
        end_offset, token_count, metadata, dimension, embedding)
      SELECT gen_random_uuid(), ${target.projectId}, u.file, u.version, u.path, u.index,
        rpad('Chunk ' || u.path || ' ' || u.index || ' ', ${TEXT_CHARS}, 'lorem ipsum '),
        ${TEXT_CHARS}, ${TEXT_CHARS / 4}, '{}'::jsonb, ${DIMENSION}, decode(u.embedding, 'base64')
      FROM unnest(${chunks.map((i) => of(i).id)}::uuid[], ${chunks.map((i) => of(i).version)}::uuid[],
        ${chunks.map((i) => of(i).path)}::text[], ${chunks.map((i) => i % aFile)}::int[],
        ${embeddings}::text[]) AS u (file, version, path, index, embedding)`;
    await tx`INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${target.projectId}, ${target.environmentId}, u.file, u.version
      FROM unnest(${ids}::uuid[], ${versions}::uuid[]) AS u (file, version)`;
  });
}

/** Searches until the vector itself is found, and returns the milliseconds since `committedAt`. */
async function untilVisible(
  server: Server,
  key: string,
  target: Target,
  vector: Float32Array,
  committedAt: number,
): Promise<number> {
  const path = `/projects/${target.projectId}/environments/${target.environment}/search`;
  const query = `?dimension=${DIMENSION}&limit=1&threshold=0.999`;
  const body = new Uint8Array(vector.slice().buffer);
  for (;;) {
    const response = await fetch(server.url + path + query, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/octet-stream" },
      body,
    });
    if (response.status === 200) {
      const { data } = (await response.json()) as { data: unknown[] };
      if (data.length > 0) return performance.now() - committedAt;
    }
    const waited = performance.now() - committedAt;
    if (waited > PATIENCE_MS) throw new Error(`${target.name}: not visible, ${response.status}`);
    await Bun.sleep(POLL_MS);
  }
}

function print(name: string, times: readonly number[]): void {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  const late = times.filter((time) => time > 1000).length;
  console.log(
    `| ${name} | ${times.length} | ${at(0.5)} | ${at(0.9)} | ${at(0.99)} | ${at(1)} | ${late} |`,
  );
}

const load = () => loadavg()[0]?.toFixed(1);
const dataDir = mkdtempSync(join(tmpdir(), "tessera-visibility-"));
const setup = await openEmbeddedDatabase({ dataDir, log: () => {} });
try {
  const before = load();
  const writer = openDatabase(setup.url, { connections: 1, applicationName: "bench-import" });
  const small = openDatabase(setup.url, { connections: 4, applicationName: "bench-small" });
  await migrate(small);
  const userId = crypto.randomUUID();
  const key = generateKey();
  await small`INSERT INTO users (id, email) VALUES (${userId}, 'bench@example.com')`;
  await small`INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
    VALUES (${crypto.randomUUID()}, ${userId}, 'bench', ${parseKey(key)?.keyPrefix as string},
      ${Buffer.from(hashKey(key))})`;
  const bulkProject = await writeProject(small, userId, "bulk");
  const otherProject = await writeProject(small, userId, "other");
  const bulk = await writeTarget(small, "the import itself", bulkProject, "production");
  const targets = [
    await writeTarget(small, "another project", otherProject, "production"),
    await writeTarget(small, "another environment of the project", bulkProject, "preview"),
  ];
  const server = await Server.start(dataDir);
  const vectors = makeVectors("clusters", CHUNKS, DIMENSION, 1);
  let importing = true;
  const importTimes: number[] = [];
  const transactionTimes: number[] = [];
  const importAll = async () => {
    const looking: Promise<void>[] = [];
    for (let first = 0; first < CHUNKS; first += TRANSACTION) {
      const end = Math.min(CHUNKS, first + TRANSACTION);
      const startedAt = performance.now();
      await commit(
        writer,
        bulk,
        vectors.subarray(first * DIMENSION, end * DIMENSION),
        CHUNKS_A_FILE,
      );
      const committedAt = performance.now();
      transactionTimes.push(committedAt - startedAt);
      const last = vectors.subarray((end - 1) * DIMENSION, end * DIMENSION);
      looking.push(
        untilVisible(server, key, bulk, last, committedAt).then((time) => {
          importTimes.push(time);
        }),
      );
    }
    importing = false;
    await Promise.all(looking);
  };
  const times = new Map(targets.map((target) => [target, [] as number[]]));
  const importStarted = performance.now();
  let importMs = 0;
  const commitSmall = async (target: Target, seed: number) => {
    const start = performance.now();
    const end = () => !importing && performance.now() - start > importMs + AFTER_MS;
    for (let n = 0; !end(); n++) {
      const vector = makeVectors("clusters", 1, DIMENSION, seed + n);
      await commit(small, target, vector, 1);
      const visible = await untilVisible(server, key, target, vector, performance.now());
      times.get(target)?.push(visible);
      await Bun.sleep(PAUSE_MS);
    }
  };
  await Promise.all([
    importAll().then(() => {
      importMs = performance.now() - importStarted;
    }),
    ...targets.map((target, i) => commitSmall(target, (i + 1) * 1_000_000)),
  ]);
  console.log(
    `${CHUNKS} chunks of ${DIMENSION} dimensions in transactions of ${TRANSACTION}: ` +
      `${(importMs / 1000).toFixed(1)} s; load average ${before} before, ${load()} at the end`,
  );
  console.log("\n| milliseconds until visible | commits | p50 | p90 | p99 | max | over 1 s |");
  console.log("| --- | --: | --: | --: | --: | --: | --: |");
  for (const [target, list] of times) print(target.name, list);
  print("the import itself", importTimes);
  print("(a transaction of the import)", transactionTimes);
  console.log("\n| long steps of the indexing thread | longest, ms |\n| --- | --: |");
  for (const [name, took] of [...server.steps].sort((a, b) => b[1] - a[1])) {
    console.log(`| ${name} | ${took} |`);
  }
  await Promise.all([writer.end(), small.end()]);
  await server.stop();
} finally {
  await setup.close();
  rmSync(dataDir, { recursive: true, force: true });
}
