import type { Readable, Writable } from "node:stream";
import { loadConfig } from "../ops/config/load.ts";
import type { Environment } from "../ops/config/reader.ts";
import type { Config } from "../ops/config/schema.ts";

/** The output of a command, which may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The parts of its process that a command uses. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Carries results only. */
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
}

/** The caller's configuration. Throws a ConfigError. */
export function configOf({ env }: Io): Config {
  return loadConfig(env);
}
