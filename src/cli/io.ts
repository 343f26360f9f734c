import type { Readable, Writable } from "node:stream";
import { loadConfig } from "../config/load.ts";
import type { Environment } from "../config/reader.ts";
import type { Config } from "../config/schema.ts";

/** What a command writes to, which may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command sees of the process that runs it. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Carries nothing but results. */
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Environment;
}

/** The caller's configuration. Throws a ConfigError. */
export function configOf({ env }: Io): Config {
  return loadConfig(env);
}
