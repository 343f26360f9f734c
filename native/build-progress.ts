/**
 * Builds the addon as `bun native/build.ts` does, and prints the progress of the compiler every few seconds, because
 * the large parts take minutes on few cores.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { unitsFor } from "./units.ts";

const REPORT_MS = 5_000;

/** How many parts of the addon have an object that was compiled since a time in milliseconds since 1970. */
export function compiledSince(time: number, folder: string, parts: readonly string[]): number {
  const writtenAt = (name: string) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  try {
    const objects = readdirSync(folder).filter((name) => writtenAt(name) >= time);
    return parts.filter((part) =>
      objects.some((name) => name.startsWith(`${part}-`) && name.endsWith(".o")),
    ).length;
  } catch {
    // The compiler has not started.
    return 0;
  }
}

if (import.meta.main) {
  const startedAt = Date.now();
  const objects = join(import.meta.dir, "build", "objects");
  const parts = unitsFor(process.arch).map(({ name }) => name);
  const build = Bun.spawn([process.execPath, join(import.meta.dir, "build.ts")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  setInterval(() => {
    const done = compiledSince(startedAt, objects, parts);
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    process.stderr.write(
      `tessera: compiling the search core: ${done} of ${parts.length} parts after ${seconds} s\n`,
    );
  }, REPORT_MS);
  process.exit(await build.exited);
}
