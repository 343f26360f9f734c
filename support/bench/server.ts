import { onCleanup } from "../cleanup.ts";
import { PROJECT_ROOT, startServer, type TestServer } from "../processes/process.ts";
import { anonymousBytes, cpuSeconds } from "./process-usage.ts";

const POLL_MS = 20;

/** The real server as a separate process, and what it uses. */
export class BenchServer {
  private constructor(
    private readonly server: TestServer,
    readonly url: URL,
    /** From the start of the process until it is ready. */
    readonly startSeconds: number,
  ) {}

  /** Starts the server with the caller's environment and these variables. */
  static async start(env: Readonly<Record<string, string>>): Promise<BenchServer> {
    const startedAt = performance.now();
    const server = await startServer({
      env: { ...process.env, PORT: "0", DEMO: "off", LOG_LEVEL: "warn", ...env },
    });
    const url = new URL(server.url);
    while ((await fetch(new URL("/readyz", url))).status !== 200) await Bun.sleep(POLL_MS);
    return new BenchServer(server, url, (performance.now() - startedAt) / 1000);
  }

  get pid(): number {
    return this.server.pid;
  }

  cpuSeconds(): number {
    return cpuSeconds(this.pid);
  }

  anonymousBytes(): number {
    return anonymousBytes(this.pid);
  }

  /** Everything the server has printed so far. */
  logs(): string {
    return this.server.logs();
  }

  /** A value of /metrics. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.url))).text();
    return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  }

  /** Drains the server, which writes its snapshots. */
  async stop(): Promise<void> {
    this.server.kill("SIGTERM");
    await this.server.exited;
  }
}

/** Starts a baseline: a program of bench/ that prints the address it listens on. */
export async function startBaseline(
  path: string,
  ...args: string[]
): Promise<{ url: string; pid: number }> {
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
  server: BenchServer,
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
