import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../support/folders.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";

/** A copy of the service that a test may change. It shares the dependencies of the original. */
export function cloneService(): string {
  const clone = temporaryFolder("clone");
  for (const folder of ["native", "src", "workers", "scripts", "support"]) {
    cpSync(join(PROJECT_ROOT, folder), join(clone, folder), { recursive: true });
  }
  cpSync(join(PROJECT_ROOT, "package.json"), join(clone, "package.json"));
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(clone, "node_modules"));
  return clone;
}
