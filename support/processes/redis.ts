import type { Subprocess } from "bun";
import { onCleanup } from "../cleanup.ts";
import { type Fault, faultUntil } from "../faults.ts";
import { temporaryFolder } from "../folders.ts";
import { programPath } from "../programs.ts";
import { until } from "../until.ts";
import { onFreePort } from "./ports.ts";

export type TestRedis = {
  /** `redis://…`, as in REDIS_URL. Stays the same after `restart`. */
  readonly url: string;
  /** Freezes the server: connections stay open but get no answers. */
  pause(): Fault;
  /** Kills the server, as a crash would. The end of the fault starts an empty one on the same port. */
  kill(): Promise<Fault>;
  /** Kills the server if it is running and starts an empty one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a real redis-server without persistence, with further arguments. */
export async function startRedis(args: readonly string[] = []): Promise<TestRedis> {
  const folder = temporaryFolder("redis");
  let { port, server } = await onFreePort(async (port) => ({
    port,
    server: await launch(port, folder, args),
  }));

  async function kill(): Promise<void> {
    server.kill("SIGKILL");
    await server.exited;
  }

  async function restart(): Promise<void> {
    await kill();
    server = await launch(port, folder, args);
  }

  const stop = onCleanup(kill);
  return {
    url: `redis://127.0.0.1:${port}`,
    pause() {
      server.kill("SIGSTOP");
      return faultUntil(() => server.kill("SIGCONT"));
    },
    async kill() {
      await kill();
      return faultUntil(restart);
    },
    restart,
    stop,
  };
}

async function launch(port: number, folder: string, args: readonly string[]): Promise<Subprocess> {
  const server = Bun.spawn(
    [
      programPath("redis-server"),
      ...["--port", String(port)],
      ...["--bind", "127.0.0.1"],
      ...["--save", ""],
      ...["--appendonly", "no"],
      ...["--dir", folder],
      ...args,
    ],
    { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  await until("redis-server answers or has ended", async () => {
    return server.exitCode !== null || (await answers(port));
  });
  if (server.exitCode !== null) throw new Error(`redis-server did not start on port ${port}`);
  return server;
}

async function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  try {
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: (connection) => void connection.write("PING\r\n"),
        data: (_, bytes) => resolve(bytes.toString().startsWith("+PONG")),
        close: () => resolve(false),
        error: () => resolve(false),
      },
    });
    const answer = await promise;
    socket.end();
    return answer;
  } catch {
    return false;
  }
}
