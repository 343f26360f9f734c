import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { startNginx } from "../../../bench/nodes/nginx.ts";
import { startApiProcess, type TestApi } from "../../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../../support/api/imports.ts";
import { TestWorld, untilReady } from "../../../support/api/world.ts";
import { type Fault, faultUntil } from "../../../support/faults.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { ndjson } from "../../../support/ndjson.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { onFreePort } from "../../../support/processes/ports.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";
import { startRedis } from "../../../support/processes/redis.ts";
import { lacks, programPath } from "../../../support/programs.ts";
import { until } from "../../../support/until.ts";
import { exchange } from "../../api/raw-exchange.ts";

/** So many that each node gets some of them, wherever their random ids and the nodes' random ports fall. */
const PROJECTS = 24;
/** Several batches, so that the import can be interrupted between two. */
const IMPORTED_FILES = 1_500;
const IMPORTED_CONTENT_BYTES = 4_200;
const HOLD_LOCK = 7305_0002;
/** Nodes report their numbers twice in this time. */
const REPORTED_MS = 1_000;
/** Of each of the clients that search without end. */
const PAUSE_MS = 150;

type Node = Awaited<ReturnType<typeof startApiProcess>>;

/** Two nodes behind nginx that share a database and Redis. */
class Fleet {
  readonly nodes: Node[] = [];
  readonly worlds: TestWorld[] = [];
  url = "";
  #folders = [dataFolder(), dataFolder()];
  #redisUrl = "";

  static async start(): Promise<Fleet> {
    const fleet = new Fleet();
    fleet.#redisUrl = (await startRedis()).url;
    // The second one shares the database of the first.
    await fleet.startNode(0);
    await fleet.startNode(1);
    for (let i = 0; i < PROJECTS; i++) {
      const world = await TestWorld.create(fleet.node(0));
      await world.write(1, `file-${i}`);
      fleet.worlds.push(world);
    }
    const table = await callCommand(["projects", "map"], {
      env: { DATABASE_URL: fleet.node(0).databaseUrl },
    });
    fleet.url = await startNginx(
      fleet.nodes.map(({ url }) => url),
      table.stdout,
    );
    return fleet;
  }

  node(number: number): Node {
    return this.nodes[number] as Node;
  }

  /** Starts a node, or starts it again at the same address with the same data. */
  async startNode(number: number): Promise<void> {
    const [first] = this.nodes;
    const start = (port: number) =>
      startApiProcess({
        ...(first === undefined ? {} : { beside: first as TestApi }),
        env: {
          PORT: String(port),
          DATA_DIR: this.#folders[number],
          REDIS_URL: this.#redisUrl,
          INDEX_PRELOAD: "own",
          SEARCH_WORKERS: "1",
        },
      });
    // The balancer knows nodes by their ports, so a node that starts again needs that of before.
    const before = this.nodes[number];
    const port = before === undefined ? undefined : Number(new URL(before.url).port);
    this.nodes[number] = await (port === undefined ? onFreePort(start) : start(port));
    await untilReady(this.node(number).url);
  }

  /** How many projects each node has in memory. */
  async loaded(): Promise<number[]> {
    return await Promise.all(
      this.nodes.map(async ({ url }) => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return Number(/^tessera_index_projects (\d+)$/m.exec(metrics)?.[1]);
      }),
    );
  }

  /** Waits until the balancer sends searches to a node that was away. */
  async untilUsed(number: number): Promise<void> {
    const { url } = this.node(number);
    await until("the balancer uses the node", async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return /_duration_seconds_count\{operation="searchEnvironment",status="200"\} [1-9]/.test(
        metrics,
      );
    });
  }

  /** Searches once in each project, by id or by slug; the statuses. */
  async searchAll(by: "id" | "slug"): Promise<number[]> {
    const statuses: number[] = [];
    for (const world of this.worlds) statuses.push((await this.searchBy(world, by)).status);
    return statuses;
  }

  searchBy({ project, member }: TestWorld, by: "id" | "slug", key?: string): Promise<Response> {
    return fetch(`${this.url}/projects/${project[by]}/environments/production/search`, {
      method: "POST",
      headers: {
        ...member.headers,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "x-routing-key": key }),
      },
      body: JSON.stringify({ vector: Array(768).fill(1), dimension: 768, threshold: 0 }),
    });
  }
}

/** Keeps an import from storing files of a project once a batch of them is committed. */
async function holdSecondBatch({ sql }: TestApi, projectId: string): Promise<Fault> {
  const holder = await sql.reserve();
  await holder`SELECT pg_advisory_lock(${HOLD_LOCK})`;
  await sql.unsafe(`
    CREATE FUNCTION hold_batch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM files WHERE project_id = '${projectId}'
        AND xmin <> pg_current_xact_id()::xid) THEN
        PERFORM pg_advisory_xact_lock(${HOLD_LOCK});
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER hold_batch BEFORE INSERT ON files FOR EACH STATEMENT EXECUTE FUNCTION hold_batch()`);
  return faultUntil(async () => {
    await holder`SELECT pg_advisory_unlock(${HOLD_LOCK})`;
    holder.release();
    await sql`DROP FUNCTION hold_batch CASCADE`;
  });
}

const ALL_FOUND = Array(PROJECTS).fill(200);

describe.skipIf(lacks("nginx", "redis-server"))("two nodes behind nginx", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start();
  });

  test("each project is in the memory of one node, whichever of its names clients use", async () => {
    for (const by of ["id", "slug", "id", "slug"] as const) {
      expect(await fleet.searchAll(by)).toEqual(ALL_FOUND);
    }
    const sum = async () => (await fleet.loaded()).reduce((a, b) => a + b, 0);
    await until("every project is loaded", async () => (await sum()) >= PROJECTS);
    await Bun.sleep(REPORTED_MS);
    expect(await sum()).toBe(PROJECTS);
    expect(Math.min(...(await fleet.loaded()))).toBeGreaterThan(0);
  });

  test("the routing key of an answer leads to the same node as the project's names", async () => {
    const before = await fleet.loaded();
    for (const world of fleet.worlds) {
      const key = (await fleet.searchBy(world, "slug")).headers.get("x-routing-key");
      expect(key).toBe(world.project.id);
      expect((await fleet.searchBy(world, "slug", key ?? "")).status).toBe(200);
    }
    await Bun.sleep(REPORTED_MS);
    expect(await fleet.loaded()).toEqual(before);
  });

  test("requests that are written together, a line break after a body, and trailers are answered through the balancer", async () => {
    const head = (method: string, ...headers: string[]) =>
      [`${method} /projects HTTP/1.1`, "Host: api", ...headers, "", ""].join("\r\n");
    const list = head("GET");
    const body = head("POST", "Content-Length: 2");
    const chunks = head("POST", "Transfer-Encoding: chunked");
    const bytes = `${list}${list}${body}{}\r\n${chunks}2\r\n{}\r\n0\r\nX-A: 1\r\n\r\n${list}`;
    const { statuses, closed } = await exchange(fleet.url, [bytes], { answers: 5 });
    // Without credentials each gets its problem.
    expect({ statuses, closed }).toEqual({ statuses: Array(5).fill(401), closed: false });
  });

  test("a committed change is found through the balancer and on every node", async () => {
    const [world] = fleet.worlds as [TestWorld];
    await world.write(1, "later");
    for (const url of [fleet.url, ...fleet.nodes.map((node) => node.url)]) await world.agrees(url);
  });

  test("searches go on without a failure while the nodes are restarted one by one", async () => {
    let running = true;
    let found = 0;
    const failures: string[] = [];
    const search = async (world: TestWorld) => {
      while (running) {
        const response = await fleet.searchBy(world, "id");
        if (response.status === 200) found++;
        else failures.push(`${response.status} ${await response.text()}`);
        await Bun.sleep(PAUSE_MS);
      }
    };
    const searching = fleet.worlds.map(search);
    try {
      for (const number of [0, 1]) {
        const node = fleet.node(number);
        node.server.kill("SIGTERM");
        expect(await node.server.exited).toBe(0);
        await fleet.startNode(number);
        await fleet.untilUsed(number);
      }
    } finally {
      running = false;
      await Promise.all(searching);
    }
    expect(failures).toEqual([]);
    expect(found).toBeGreaterThanOrEqual(PROJECTS);
  });

  test("a killed node fails no search, and the other one answers as before", async () => {
    fleet.node(0).server.kill("SIGKILL");
    expect(await fleet.searchAll("id")).toEqual(ALL_FOUND);
    for (const world of fleet.worlds) await world.agrees(fleet.url);
  });

  test("an import whose node dies changes no scope, and is complete once it is repeated", async () => {
    // Node 0 is still away, so the balancer sends the import to the other one.
    const [away, node] = [fleet.node(0), fleet.node(1)];
    await away.server.exited;
    const { owner, project } = await node.ownedProject();
    const content = "Words of a document. ".repeat(IMPORTED_CONTENT_BYTES / 21);
    const lines = [
      PRODUCTION,
      ...Array.from({ length: IMPORTED_FILES }, (_, i) => file(`docs/${i}.md`, { content })),
    ];
    const imports = importsOf(node, owner);
    const send = () =>
      fetch(`${fleet.url}/projects/${project.id}/import`, {
        method: "POST",
        headers: { ...owner.headers, "content-type": "application/x-ndjson" },
        body: ndjson(lines),
      });
    const stored = async () => {
      const [row] = await node.sql`
        SELECT count(*)::integer AS files FROM files WHERE project_id = ${project.id}`;
      return row?.files as number;
    };
    await using held = await holdSecondBatch(node, project.id);
    const sending = send().catch(() => undefined);
    await until("the first batch is stored", async () => (await stored()) > 0);
    node.server.kill("SIGKILL");
    const lost = await sending;
    expect(lost === undefined || lost.status >= 500).toBe(true);
    await held.end();
    expect(await stored()).toBeLessThan(IMPORTED_FILES);
    expect(await imports.working(project)).toEqual([]);
    await fleet.startNode(0);
    await until("the balancer answers", async () => (await fetch(`${fleet.url}/livez`)).ok);
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ lines: lines.length, refused: 0 });
    expect(await imports.working(project)).toHaveLength(IMPORTED_FILES);
  });
});

describe("the other configurations", () => {
  const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, "deploy", path), "utf8");
  const LOCAL = "127.0.0.1:3000";

  test.skipIf(lacks("haproxy"))("HAProxy accepts its configuration", async () => {
    const folder = temporaryFolder("haproxy");
    const text = textOf("balancer/haproxy.cfg").replaceAll(/node\d:3000/g, LOCAL);
    await Bun.write(join(folder, "haproxy.cfg"), text);
    await Bun.write(join(folder, "tessera-projects.map"), "handbook 0\n");
    const checked = Bun.spawnSync([programPath("haproxy"), "-c", "-f", "haproxy.cfg"], {
      cwd: folder,
    });
    expect([checked.exitCode, checked.stderr.toString()]).toEqual([0, expect.any(String)]);
  });

  test("Envoy and nginx have the same nodes as the compose file, which mounts nginx's", () => {
    const compose = parse(textOf("nodes.yaml"), { merge: true });
    const names = Object.keys(compose.services).filter((name) => name.startsWith("node"));
    expect(names).toHaveLength(3);
    const envoy = JSON.stringify(parse(textOf("balancer/envoy.yaml")));
    for (const name of names) {
      expect(envoy).toContain(`"address":"${name}"`);
      expect(textOf("balancer/nginx.conf")).toContain(`server ${name}:3000`);
      expect(textOf("balancer/haproxy.cfg")).toContain(`server ${name} ${name}:3000`);
      expect(compose.services[name].environment).toMatchObject({ INDEX_PRELOAD: "own" });
    }
    for (const volume of compose.services.balancer.volumes) {
      expect(() => textOf((volume as string).split(":")[0] as string)).not.toThrow();
    }
  });
});
