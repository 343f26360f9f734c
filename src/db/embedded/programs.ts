import type { SpawnOptions } from "bun";
import { isRoot } from "./account.ts";
import { explainFailure } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";

/**
 * How PostgreSQL's programs run: as the account of the cluster, in an environment that is fixed, so that PG*
 * variables and locales of the caller do not affect clusters.
 */
export function programOptions(location: ClusterLocation) {
  return {
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" },
    stdin: "ignore",
    ...(isRoot() ? location.account : {}),
  } as const satisfies SpawnOptions.BaseOptions<"ignore", "pipe", "pipe">;
}

/** Runs one of PostgreSQL's programs to its end. `step` completes "could not ...". */
export async function runProgram(
  location: ClusterLocation,
  command: string[],
  step: string,
): Promise<void> {
  const program = Bun.spawn(command, {
    ...{ ...programOptions(location), stdout: "pipe", stderr: "pipe" },
  });
  const [status, output, errors] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  if (status !== 0) throw explainFailure(step, `${errors}\n${output}`, location.log);
}
