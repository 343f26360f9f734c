import type { Environment } from "./reader.ts";

/** The environment of this process, for programs that pass it on. */
export const ENVIRONMENT: Environment = process.env;

/**
 * The directory that the user's relative paths refer to. scripts/run.sh names it, because it changes to
 * Tessera's own folder, where Bun finds its settings.
 */
export function callerDirectory(env: Environment = ENVIRONMENT): string {
  return env["TESSERA_CWD"] ?? process.cwd();
}
