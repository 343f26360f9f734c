import { PROJECT_ROOT } from "../processes/process.ts";
import { secondsSince } from "./table.ts";

/** Imports a file with the command line: its time and processor time in seconds, its memory in bytes. */
export async function importFile(path: string, url: string) {
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
