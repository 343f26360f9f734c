import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { secondsSince } from "./table.ts";

export interface ImportCost {
  readonly seconds: number;
  /** Processor time in seconds. */
  readonly cpu: number;
  /** The most memory that the import has used, in bytes. */
  readonly memory: number;
}

/** Imports a file with the command line. */
export async function importFile(path: string, url: string): Promise<ImportCost> {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, "src/cli/main.ts", "import", path], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: url },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the import failed");
  const seconds = secondsSince(started);
  const usage = child.resourceUsage();
  const cpu = Number(usage?.cpuTime.total ?? 0) / 1e6;
  return { seconds, cpu, memory: usage?.maxRSS ?? 0 };
}
