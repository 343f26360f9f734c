import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoadOrder, LoadResult } from "./load.ts";

const ROOT = join(import.meta.dir, "..", "..");
/** Ticks of /proc/<pid>/stat a second; fixed on Linux. */
const TICKS = 100;
const POLL_MS = 20;

/** The real server as a process of its own, and what the system says about that process. */
export class BenchServer {
  private constructor(
    private readonly child: Bun.Subprocess<"ignore", "pipe", "inherit">,
    readonly url: URL,
    /** From the start of the process to its first answer that it is ready. */
    readonly startSeconds: number,
  ) {}

  static async start(dataDir: string, env: Record<string, string> = {}): Promise<BenchServer> {
    const startedAt = performance.now();
    const child = Bun.spawn([process.execPath, "src/main.ts"], {
      cwd: ROOT,
      env: { ...process.env, PORT: "0", DEMO: "off", LOG_LEVEL: "warn", DATA_DIR: dataDir, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    let text = "";
    for await (const bytes of child.stdout) {
      text += new TextDecoder().decode(bytes);
      if (text.includes("listening on ")) break;
    }
    const address = /listening on (\S+)/.exec(text)?.[1];
    if (address === undefined) throw new Error("the server did not start");
    const url = new URL(address);
    while ((await fetch(new URL("/readyz", url))).status !== 200) await Bun.sleep(POLL_MS);
    return new BenchServer(child, url, (performance.now() - startedAt) / 1000);
  }

  get pid(): number {
    return this.child.pid;
  }

  /** CPU seconds of all threads so far, user and system. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }

  /** Resident bytes without the pages of mapped files. */
  rssBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024;
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(new URL("/metrics", this.url))).text();
    return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
  }

  async stop(): Promise<void> {
    this.child.kill("SIGTERM");
    await this.child.exited;
  }
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

export interface Measured {
  readonly qps: number;
  readonly p50: number;
  readonly p99: number;
  /** Server CPU milliseconds a query. */
  readonly cpu: number;
}

/** The client process, started once: its compilation must not fall into a measurement. */
export class LoadGenerator {
  #answer: (result: LoadResult) => void = () => {};
  readonly #child: Bun.Subprocess;

  constructor() {
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "load.ts")], {
      ipc: (message) => this.#answer(message as LoadResult),
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit"],
    });
  }

  async run(
    server: BenchServer,
    clients: number,
    requests: number,
    payloads: readonly Uint8Array[],
  ): Promise<Measured> {
    const { hostname, port } = server.url;
    const order: LoadOrder = { hostname, port: Number(port), clients, requests, payloads };
    const before = server.cpuSeconds();
    const result = await new Promise<LoadResult>((resolve) => {
      this.#answer = resolve;
      this.#child.send(order);
    });
    const cpu = ((server.cpuSeconds() - before) * 1000) / requests;
    if (result.failures > 0) throw new Error(`${result.failures} searches failed`);
    const sorted = Float64Array.from(result.latencies).sort();
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] as number;
    return { qps: requests / result.seconds, p50: at(0.5), p99: at(0.99), cpu };
  }

  stop(): void {
    this.#child.kill();
  }
}
