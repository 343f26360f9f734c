import { onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT, startServer } from "../../support/processes/process.ts";
import { cpuSeconds, residentBytes } from "./process-usage.ts";

const POLL_MS = 20;

/** Where requests are sent, and the process whose time they take. */
export interface Address {
  readonly url: URL;
  readonly pid: number;
}

/** How a server of a benchmark is watched and ended. */
export interface ServerHandle extends Address {
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
    return this.handle.url;
  }

  get pid(): number {
    return this.handle.pid;
  }

  cpuSeconds(): number {
    return cpuSeconds(this.pid);
  }

  anonymousBytes(): number {
    return residentBytes(this.pid).anonymous;
  }

  logs(): string {
    return this.handle.logs();
  }

  /** A value of /metrics, which may be the sum of all series of its name. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.url))).text();
    return metricOf(text, name) ?? Number.NaN;
  }

  async stop(): Promise<void> {
    await this.handle.stop();
  }

  async kill(): Promise<void> {
    await this.handle.kill();
  }
}

/** The sum of all series of a metric in the text of /metrics; null without any. */
export function metricOf(text: string | undefined, name: string): number | null {
  const series = [...(text ?? "").matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, "gm"))];
  return series.length === 0 ? null : series.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Starts the server as a process, with the caller's environment and these variables. */
export function startServerProcess(
  env: Readonly<Record<string, string>>,
  program: readonly string[] = ["src/main.ts"],
): Promise<BenchServer> {
  return BenchServer.start(async () => {
    const server = await startServer({
      program,
      env: { ...process.env, PORT: "0", DEMO: "off", LOG_LEVEL: "warn", ...env },
    });
    const end = async (signal: NodeJS.Signals) => {
      server.kill(signal);
      await server.exited;
    };
    return {
      url: new URL(server.url),
      pid: server.pid,
      logs: server.logs,
      stop: () => end("SIGTERM"),
      kill: () => end("SIGKILL"),
    };
  });
}

/** Starts a baseline as a process: a program of bench/ that prints the address it listens on. */
export async function startBaseline(path: string, ...args: string[]): Promise<Address> {
  const program = Bun.spawn([process.execPath, path, ...args], {
    cwd: PROJECT_ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
  onCleanup(() => program.kill());
  for await (const bytes of program.stdout) {
    const url = /listening on (\S+)/.exec(new TextDecoder().decode(bytes))?.[1];
    if (url !== undefined) return { url: new URL(url), pid: program.pid };
  }
  throw new Error(`${path} did not start`);
}
