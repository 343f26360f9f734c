import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { tryLockFile, unlockFile } from "../../native/index.ts";
import { announceService, forgetService, type RunningService } from "./running-service.ts";

const LOCK_FILE = "service.lock";
/** Time for the holder of a lock to write its name into the file. */
const NAME_WRITTEN_MS = 100;
/** The interval at which a service checks whether the holder of the claim has ended. */
const CLAIM_RETRY_MS = 1_000;

/** Another service has the data directory. The message names it, and the remedy. */
export class ServiceRunsError extends Error {}

/**
 * The right to be the service of a data directory, which commands find. It is a file lock that the kernel releases when
 * its process ends for any reason. A killed service therefore does not block the next one.
 */
export class ServiceClaim {
  readonly #dataDir: string;
  readonly #file: string;
  #lock: number | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Takes the right unless another process has it. Throws if the directory cannot be used. */
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

  /** Writes the holder's name for services that are refused. */
  name(url?: string): void {
    if (!this.isHeld) return;
    try {
      writeFileSync(this.#file, `${[process.pid, hostname(), url].join(" ").trim()}\n`);
    } catch {
      // The disk is full. Writing truncates the file first, so an earlier name cannot be read.
    }
  }

  /** Writes the service's address for commands, immediately or once the other service has ended. */
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
    // A killed service may have left its description.
    forgetService(this.#dataDir);
    this.name();
    return true;
  }
}
