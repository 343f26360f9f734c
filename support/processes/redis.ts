import type { Subprocess } from "bun";
import { onCleanup } from "../cleanup.ts";
import { temporaryFolder } from "../folders.ts";
import { programPath } from "../programs.ts";
import { freePort } from "./ports.ts";

const START_TIMEOUT_MS = 20_000;
const POLL_MS = 20;

export type TestRedis = {
  /** `redis://…`, as in REDIS_URL. Stays the same after `restart`. */
  readonly url: string;
  /** Freezes the server: connections stay open but get no answers. */
  pause(): void;
  resume(): void;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Kills the server if it is running and starts an empty one on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a real redis-server without persistence. */
export async function startRedis(): Promise<TestRedis> {
  const folder = temporaryFolder("redis");
  let port = await freePort();
  let server = await launchOnFreePort();

  async function launchOnFreePort(): Promise<Subprocess> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await launch(port, folder);
      } catch (error) {
        // Another process may take the port between the probe and the start.
        if (attempt === 5) throw error;
        port = await freePort();
      }
    }
  }

  async function kill(): Promise<void> {
    server.kill("SIGKILL");
    await server.exited;
  }

  const stop = onCleanup(kill);
  return {
    get url() {
      return `redis://127.0.0.1:${port}`;
    },
    pause: () => server.kill("SIGSTOP"),
    resume: () => server.kill("SIGCONT"),
    kill,
    async restart() {
      await kill();
      server = await launch(port, folder);
    },
    stop,
  };
}

async function launch(port: number, folder: string): Promise<Subprocess> {
  const server = Bun.spawn(
    [
      programPath("redis-server"),
      ...["--port", String(port)],
      ...["--bind", "127.0.0.1"],
      ...["--save", ""],
      ...["--appendonly", "no"],
      ...["--dir", folder],
    ],
    { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
  );
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (server.exitCode === null && Date.now() < deadline) {
    if (await answers(port)) return server;
    await Bun.sleep(POLL_MS);
  }
  server.kill("SIGKILL");
  throw new Error(`redis-server did not start on port ${port}`);
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
