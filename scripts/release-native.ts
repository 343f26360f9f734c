/**
 * Builds the native addons that a release brings along for machines without a compiler:
 * `npm run release:native [-- linux-x64 linux-arm64 ...]`, by default for this machine only. They are
 * written to native/prebuilt, each with a manifest: a hash of its sources, and its checksum.
 *
 * Addons for Linux need a compiler for their architecture. For another one than this machine's, that is
 * Debian's cross compiler, such as g++-aarch64-linux-gnu. Addons for macOS are built on macOS.
 */
import { compileForRelease } from "../native/build.ts";
import { nameOf, prebuiltPath, sealPrebuilt, type Target } from "../native/prebuilt.ts";
import { helpIfAsked } from "./help.ts";

const TARGETS: readonly Target[] = [
  { platform: "linux", arch: "x64" },
  { platform: "linux", arch: "arm64" },
  { platform: "darwin", arch: "arm64" },
];
const HERE: Target = { platform: process.platform, arch: process.arch };

function targetOf(name: string): Target {
  const target = TARGETS.find((each) => nameOf(each) === name);
  if (target === undefined) {
    throw new Error(`${name} is none of the targets ${TARGETS.map(nameOf).join(", ")}`);
  }
  if (target.platform !== process.platform) {
    throw new Error(`${name} cannot be built here: run this command on such a machine`);
  }
  return target;
}

/** Builds the addons for these targets into native/prebuilt. Returns their paths. */
export async function buildAddons(names: readonly string[]): Promise<string[]> {
  // All of them are checked before the first is built.
  const targets = names.length === 0 ? [HERE] : names.map(targetOf);
  const paths: string[] = [];
  for (const target of targets) {
    const path = prebuiltPath(target);
    sealPrebuilt(target, await compileForRelease(target, path));
    paths.push(path);
  }
  return paths;
}

const USAGE = `usage: npm run release:native [-- linux-x64 linux-arm64 ...]

Builds the native addon for these machines, by default for this one, into native/prebuilt.

  --help
`;

if (import.meta.main) {
  helpIfAsked(USAGE);
  try {
    for (const path of await buildAddons(Bun.argv.slice(2))) process.stdout.write(`${path}\n`);
  } catch (error) {
    process.stderr.write(`tessera: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
