import { cleanUp } from "../cleanup.ts";

/** Runs a benchmark or a script, stops everything it started, and ends the process. */
export async function runProgram(work: () => Promise<void>): Promise<never> {
  let failed = false;
  try {
    await work();
  } catch (error) {
    failed = true;
    console.error(error);
  }
  await cleanUp();
  // Some of the native code under measurement keeps threads that would hold the process.
  process.exit(failed ? 1 : undefined);
}
