/**
 * Addons that a release brings along, for machines without a compiler: `prebuilt/<platform>-<arch>.node`
 * with a manifest next to it. `scripts/release-native.ts` writes them.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dir, "prebuilt");

/** The machines that an addon is for. */
export interface Target {
  readonly platform: NodeJS.Platform;
  readonly arch: NodeJS.Architecture;
}

/** The hash of the sources of an addon, and its checksum. */
interface Manifest {
  readonly sources: string;
  readonly sha256: string;
}

/** `linux-x64`, for example. */
export function nameOf({ platform, arch }: Target): string {
  return `${platform}-${arch}`;
}

/** Where the prebuilt addon for a target is. Creates the folder. */
export function prebuiltPath(target: Target): string {
  mkdirSync(folder, { recursive: true });
  return join(folder, `${nameOf(target)}.node`);
}

const manifestPath = (target: Target) => join(folder, `${nameOf(target)}.json`);

function checksum(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

/** Writes the manifest of a prebuilt addon, which makes it usable. */
export function sealPrebuilt(target: Target, sources: string): void {
  const manifest: Manifest = { sources, sha256: checksum(prebuiltPath(target)) };
  writeFileSync(manifestPath(target), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Copies the prebuilt addon to a path if it was built from these sources and is intact. Otherwise `reason` describes
 * its defect; it is undefined without a prebuilt addon.
 */
export function takePrebuilt(
  target: Target,
  sources: string,
  path: string,
): { ok: true } | { ok: false; reason: string | undefined } {
  const addon = join(folder, `${nameOf(target)}.node`);
  if (!existsSync(addon) || !existsSync(manifestPath(target))) {
    return { ok: false, reason: undefined };
  }
  const refused = (what: string) => ({
    ok: false as const,
    reason: `the prebuilt addon for ${nameOf(target)} ${what}`,
  });
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(readFileSync(manifestPath(target), "utf8"));
  } catch {
    return refused("has a damaged manifest");
  }
  if (manifest.sources !== sources) return refused("is of other sources");
  // The copy is checked, so that nothing can change between the check and its use.
  const copy = `${path}.${process.pid}`;
  copyFileSync(addon, copy);
  if (manifest.sha256 !== checksum(copy)) {
    rmSync(copy);
    return refused("does not match its checksum");
  }
  renameSync(copy, path);
  return { ok: true };
}
