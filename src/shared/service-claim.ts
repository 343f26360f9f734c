import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { tryLockFile, unlockFile } from "../../native/index.ts";
import { announceService, forgetService, type RunningService } from "./running-service.ts";

const LOCK_FILE = "service.lock";
/** The holder of a lock writes its name into it as soon as it has the lock. */
const NAME_WRITTEN_MS = 100;
/** How often a service looks whether the one that commands find has ended. */
const CLAIM_RETRY_MS = 1_000;

/** Another service has the data directory. The message names it, and the remedy. */
export class ServiceRunsError extends Error {}

/**
 * The right to be the service of a data directory, which commands find. It is a lock that the kernel releases
 * when its process ends, however that happens, so nothing that a killed service leaves keeps the next one out.
 */
export class ServiceClaim {
  readonly #dataDir: string;
  readonly #file: string;
  #lock: number | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Takes the right if no other process has it. Throws if the directory cannot be used. */
  constructor(dataDir: string) {
    mkdirSync(dataDir, { recursive: true });
    this.#dataDir = dataDir;
    this.#file = join(dataDir, LOCK_FILE);
    this.#take();
  }

  get isHeld(): boolean {
    return this.#lock !== null;
  }

  /** The holder of the right, for people: its process and, once it listens, its address. */
  async holder(): Promise<string> {
    await Bun.sleep(NAME_WRITTEN_MS);
    const [pid, host, url] = readFileSync(this.#file, "utf8").trim().split(" ");
    if (!pid) return "another process";
    const machine = host === hostname() ? "" : ` on ${host}`;
    return `process ${pid}${machine} ${url === undefined ? "(starting)" : `at ${url}`}`;
  }

  /** Lets services that are refused know the address. */
  name(url?: string): void {
    if (!this.isHeld) return;
    try {
      writeFileSync(this.#file, `${[process.pid, hostname(), url].join(" ").trim()}\n`);
    } catch {
      // The disk is full. Writing begins with an empty file, so nobody reads an earlier name.
    }
  }

  /** Writes the service's address for commands, at once or when the other service has ended. */
  announce(service: RunningService, onFailure: (error: unknown) => void): void {
    const attempt = () => {
      try {
        if (!this.isHeld && !this.#take()) return;
        this.name(service.url);
        announceService(this.#dataDir, service);
      } catch (error) {
        onFailure(error);
      }
      clearInterval(this.#timer);
    };
    this.#timer = setInterval(attempt, CLAIM_RETRY_MS);
    this.#timer.unref();
    attempt();
  }

  release(): void {
    clearInterval(this.#timer);
    if (this.#lock === null) return;
    forgetService(this.#dataDir);
    unlockFile(this.#lock);
    this.#lock = null;
  }

  #take(): boolean {
    this.#lock = tryLockFile(this.#file);
    if (this.#lock === null) return false;
    // A killed service has left it.
    forgetService(this.#dataDir);
    this.name();
    return true;
  }
}
