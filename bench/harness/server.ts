import { onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT, startServer } from "../../support/processes/process.ts";
import { anonymousBytes, cpuSeconds } from "./process-usage.ts";

const POLL_MS = 20;

/** A server that runs. */
export interface Running {
  readonly url: string;
  readonly pid: number;
}

/** Where requests are sent, and the process whose time they take. */
export interface Address {
  readonly url: URL;
  readonly pid: number;
}

/** How a server of a benchmark is watched and ended. */
export interface ServerHandle extends Running {
  /** Everything the server has printed so far. */
  logs(): string;
  /** Drains the server, which writes its snapshots. */
  stop(): Promise<void>;
  /** Ends the server without draining it. */
  kill(): Promise<void>;
}

/** The real server, and what it uses. */
export class BenchServer {
  private constructor(
    private readonly handle: ServerHandle,
    /** From the start until it is ready. */
    readonly startSeconds: number,
  ) {}

  /** Starts a server and waits until it is ready. */
  static async start(launch: () => Promise<ServerHandle>): Promise<BenchServer> {
    const startedAt = performance.now();
    const handle = await launch();
    while ((await fetch(new URL("/readyz", handle.url))).status !== 200) await Bun.sleep(POLL_MS);
    return new BenchServer(handle, (performance.now() - startedAt) / 1000);
  }

  get url(): URL {
    return new URL(this.handle.url);
  }

  get pid(): number {
    return this.handle.pid;
  }

  cpuSeconds(): number {
    return cpuSeconds(this.pid);
  }

  anonymousBytes(): number {
    return anonymousBytes(this.pid);
  }

  logs(): string {
    return this.handle.logs();
  }

  /** A value of /metrics. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.url))).text();
    return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  }

  /** The sum of all series of a metric. */
  async metricSum(name: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.url))).text();
    const series = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, "gm"));
    return [...series].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  async stop(): Promise<void> {
    await this.handle.stop();
  }

  async kill(): Promise<void> {
    await this.handle.kill();
  }
}

/** Starts the server as a process, with the caller's environment and these variables. */
export function startServerProcess(env: Readonly<Record<string, string>>): Promise<BenchServer> {
  return BenchServer.start(async () => {
    const server = await startServer({
      env: { ...process.env, PORT: "0", DEMO: "off", LOG_LEVEL: "warn", ...env },
    });
    const end = async (signal: NodeJS.Signals) => {
      server.kill(signal);
      await server.exited;
    };
    return {
      ...{ url: server.url, pid: server.pid, logs: server.logs },
      stop: () => end("SIGTERM"),
      kill: () => end("SIGKILL"),
    };
  });
}

/** Starts a baseline as a process: a program of bench/ that prints the address it listens on. */
export async function startBaseline(path: string, ...args: string[]): Promise<Running> {
  const program = Bun.spawn([process.execPath, path, ...args], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(() => program.kill());
  for await (const bytes of program.stdout) {
    const url = /listening on (\S+)/.exec(new TextDecoder().decode(bytes))?.[1];
    if (url !== undefined) return { url, pid: program.pid };
  }
  throw new Error(`${path} did not start`);
}

/** A ready-made POST request. */
export function postRequest(
  server: Pick<Address, "url">,
  path: string,
  apiKey: string,
  body: Uint8Array | string,
  type = "application/json",
): Uint8Array {
  const bytes = Buffer.from(body);
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${server.url.host}\r\nX-API-Key: ${apiKey}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
