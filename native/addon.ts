/** Loads the compiled addon. `index.ts`, `text.ts` and `testing.ts` describe its exports. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { addonPath, isFresh } from "./build.ts";

/**
 * Tests under AddressSanitizer set this global before the first import, which then loads the
 * instrumented addon; see scripts/asan.ts.
 */
const asan = Reflect.get(globalThis, Symbol.for("tessera.native.asan")) === true;

function ensureBuilt(): string {
  const path = addonPath({ asan });
  // The main thread has compared the sources of its process, which takes longer than loading the addon.
  if (isMainThread ? isFresh({ asan }) : existsSync(path)) return path;
  const script = join(import.meta.dir, "build.ts");
  const result = Bun.spawnSync([process.execPath, script, ...(asan ? ["--asan"] : [])]);
  if (result.success && existsSync(path)) return path;
  throw new Error(`the native search core does not build: ${result.stderr.toString().trim()}`);
}

function load(): unknown {
  const path = ensureBuilt();
  try {
    return createRequire(import.meta.url)(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the native search core does not load (${reason}); rebuild it with: bun native/build.ts --force`,
    );
  }
}

export const addon = load();

/** The recall of one search, measured by searching again exactly. */
export interface RecallSample {
  dimension: number;
  /** True best hits. */
  wanted: number;
  /** True best hits that a search as planned finds. */
  found: number;
  /** The score of the true best hit; 0 without any. */
  best: number;
}

/** The result of one step of maintenance. */
export interface MaintenanceStep {
  /** Whether the step did any work. Further steps may follow. */
  worked: boolean;
  /** Whether all work is done until the index changes. Otherwise further work may follow. */
  complete: boolean;
  /** Whether `commitCompaction` must follow. */
  compacted: boolean;
}

/** A file of a snapshot, as its manifest names it. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
  /** The `checksum` of its bytes. */
  readonly checksum: string;
}

/** Work on separate threads. It continues if the calling thread is terminated. */
interface Jobs {
  beginSnapshot(projectId: string, directory: string): Promise<readonly Part[]>;
  beginRestore(projectId: string, directory: string, parts: readonly Part[]): Promise<void>;
  beginMaintenance(
    projectId: string,
    dimension: number,
    kept: Uint32Array | null,
    threads: number,
  ): Promise<MaintenanceStep>;
  /** Null when the scope is not loaded or the body not simple. */
  beginRecall(query: object): Promise<RecallSample> | null;
}

export const jobs = addon as Jobs;
