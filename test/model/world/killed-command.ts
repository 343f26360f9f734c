import { PROJECT_ROOT } from "../../../support/processes/process.ts";
import type { World } from "./world.ts";

/** Runs a `tessera` command and kills it after a time, unless it has ended. */
export async function killedCommand(
  world: World,
  args: readonly string[],
  stdin: string,
  afterMs: number,
): Promise<void> {
  const { PATH = "", HOME = "" } = process.env;
  const program = Bun.spawn([process.execPath, "src/cli/main.ts", ...args], {
    cwd: PROJECT_ROOT,
    env: { PATH, HOME, DATABASE_URL: world.postgres.url },
    stdin: new Blob([stdin]),
    stdout: "ignore",
    stderr: "ignore",
  });
  const timer = setTimeout(() => program.kill("SIGKILL"), afterMs);
  await program.exited;
  clearTimeout(timer);
}
