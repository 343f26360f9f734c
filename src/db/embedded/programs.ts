import { isRoot } from "./account.ts";
import { explainFailure } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";

/**
 * Runs one of PostgreSQL's programs as the account of the cluster. `step` completes "could not ...".
 * The environment is fixed, so that PG* variables and locales of the caller do not affect clusters.
 */
export async function runProgram(
  location: ClusterLocation,
  command: string[],
  step: string,
): Promise<void> {
  const program = Bun.spawn(command, {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(isRoot() ? location.account : {}),
  });
  const [status, output, errors] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  if (status !== 0) throw explainFailure(step, `${errors}\n${output}`, location.log);
}
