import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "../../../support/api/world.ts";
import { callCommand } from "../../../support/processes/command.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { folderWithCluster } from "../../../support/processes/own-postgres.ts";
import { startServer } from "../../../support/processes/process.ts";
import { until } from "../../../support/until.ts";
import {
  answerOf,
  isRunning,
  killServer,
  open,
  otherUser,
  processesOf,
  query,
  serverProcess,
} from "../../faults/embedded-clusters.ts";

/** The length of a path that no socket can have. */
const LONG_NAME_CHARS = 120;

describe("the embedded PostgreSQL", () => {
  test("what a killed owner has left is ended by the next one, even if it does not answer", async () => {
    for (const state of ["running", "stopped", "without its owner's lock"] as const) {
      const dataDir = await folderWithCluster();
      const other = await otherUser(dataDir);
      await query(other.url, "CREATE TABLE kept AS SELECT 42 AS n");
      await other.kill();
      const left = serverProcess(dataDir) as number;
      if (state === "stopped") process.kill(left, "SIGSTOP");
      if (state === "without its owner's lock") rmSync(join(dataDir, "postgres", "lock"));
      const mine = await open(dataDir);
      expect(isRunning(left), state).toBe(false);
      expect(await query(mine.url, "SELECT n FROM kept"), state).toEqual([{ n: 42 }] as unknown[]);
      await mine.close();
      expect(processesOf(dataDir), state).toEqual([]);
    }
  });

  test("a server that dies under its users is started again at the same address", async () => {
    const dataDir = await folderWithCluster();
    const server = await open(dataDir);
    const joined = await open(dataDir);
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS n");
    for (let deaths = 0; deaths < 3; deaths++) {
      await killServer(dataDir);
      expect(await answerOf(joined.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    }
    await Promise.all([server.close(), joined.close()]);
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("a file that another program has left in the place of the socket keeps nobody out", async () => {
    const dataDir = await folderWithCluster();
    const socket = join(dataDir, "postgres", "cluster", ".s.PGSQL.5432");
    // The number of a process that runs, as after a restart of the machine.
    writeFileSync(`${socket}.lock`, `${process.pid}\n`);
    writeFileSync(socket, "");
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    await server.close();
  });

  test("a data folder whose path is too long for a socket is opened and joined as any other", async () => {
    const dataDir = join(dataFolder(), "n".repeat(LONG_NAME_CHARS));
    mkdirSync(dataDir, { mode: 0o711 });
    Bun.spawnSync(["cp", "-a", join(await folderWithCluster(), "postgres"), dataDir]);
    const first = await open(dataDir);
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS n");
    const other = await otherUser(dataDir);
    const joined = await open(dataDir);
    await first.close();
    expect(await answerOf(joined.url, "SELECT n FROM kept")).toEqual([{ n: 42 }]);
    await other.leave();
    await joined.close();
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("a cluster whose creation was interrupted is created again", async () => {
    const dataDir = dataFolder();
    const partial = join(dataDir, "postgres", "cluster.partial");
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, "PG_VERSION"), "18\n");
    const server = await open(dataDir);
    expect(await query<{ n: number }>(server.url, "SELECT 1 AS n")).toEqual([{ n: 1 }]);
    expect(existsSync(partial)).toBe(false);
    await server.close();
  });
});

describe("a service on the embedded PostgreSQL", () => {
  /** Whether the service answers with what the database has. */
  const untilAnswered = async (url: string, key: string) => {
    await untilReady(url);
    await until("the service answers with the project", async () => {
      const answer = await fetch(`${url}/projects/handbook`, { headers: { "x-api-key": key } });
      return answer.status === 200;
    });
  };

  /** Another program at a port; undefined where another one of this machine has just taken it. */
  const occupied = (port: number) => {
    const socket = { open: (socket: Bun.Socket) => void socket.end(), data() {} };
    try {
      return Bun.listen({ hostname: "127.0.0.1", port, socket });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      return undefined;
    }
  };

  test("starts again with its data after it, its PostgreSQL or both were killed, while another program has its address", async () => {
    const dataDir = await folderWithCluster();
    const env = { DATA_DIR: dataDir };
    const folder = ["--markdown", "fixtures/docs/concepts", "--project", "handbook", "--key"];
    const { stderr } = await callCommand(["import", ...folder], { env });
    const key = /shown only once: (\S+)/.exec(stderr)?.[1] as string;
    for (const killed of ["service", "PostgreSQL", "both"] as const) {
      const service = await startServer({ env });
      await untilAnswered(service.url, key);
      if (killed !== "service") await killServer(dataDir);
      if (killed === "PostgreSQL") {
        await untilAnswered(service.url, key);
        service.kill("SIGTERM");
        expect(await service.exited, killed).toBe(0);
        continue;
      }
      service.kill("SIGKILL");
      await service.exited;
      const other = occupied(Number(new URL(service.url).port));
      const next = await startServer({ env });
      await untilAnswered(next.url, key);
      // Commands find the service by its announced address.
      const listed = await callCommand(["keys", "list"], { env });
      expect(listed, killed).toMatchObject({ status: 0 });
      next.kill("SIGTERM");
      expect(await next.exited, killed).toBe(0);
      other?.stop(true);
    }
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("keeps its database when a terminal interrupts it with all processes of its group", async () => {
    const dataDir = await folderWithCluster();
    await startServer({ env: { DATA_DIR: dataDir } });
    const pid = serverProcess(dataDir) as number;
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ");
    const [, , group, session] = fields as string[];
    expect([Number(group), Number(session)]).toEqual([pid, pid]);
  });
});
