import { join } from "node:path";
import type { Environment } from "./reader.ts";

/** Tessera's own folder. */
export const ROOT = join(import.meta.dir, "..", "..", "..");

/** The environment of this process. */
export const ENVIRONMENT: Environment = process.env;

/**
 * The directory that the user's relative paths refer to. scripts/run.sh names it, because it changes to
 * Tessera's own folder, where Bun finds its settings.
 */
export function callerDirectory(env: Environment = ENVIRONMENT): string {
  return env["TESSERA_CWD"] ?? process.cwd();
}

/** The command that runs the command line from the current directory. */
export function commandName(): string {
  return process.cwd() === ROOT ? "./tessera" : join(ROOT, "tessera");
}
