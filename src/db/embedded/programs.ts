import { isRoot } from "./account.ts";
import { explainFailure } from "./failure.ts";
import type { Place } from "./place.ts";

/**
 * Runs one of PostgreSQL's programs as the account of the cluster. The environment is ours alone:
 * PG* variables and locales of the caller must not change what a cluster is.
 */
export async function runProgram(place: Place, command: string[], step: string): Promise<void> {
  const program = Bun.spawn(command, {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(isRoot() ? place.account : {}),
  });
  const [status, output, errors] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  if (status !== 0) throw explainFailure(step, `${errors}\n${output}`, place.log);
}
