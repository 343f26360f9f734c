import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { Unavailable } from "./peer.ts";

/**
 * Installs packages of a peer below .cache/peers when they are used for the first time, because
 * they are larger than everything that Tessera needs. Returns their node_modules.
 */
export async function installed(peer: string, ...packages: string[]): Promise<string> {
  const folder = join(PROJECT_ROOT, ".cache", "peers", peer);
  const modules = join(folder, "node_modules");
  const stamp = join(folder, `installed-${packages.join("_").replaceAll("/", "-")}`);
  if (existsSync(stamp)) return modules;
  process.stderr.write(`tessera: installing ${packages.join(", ")} into ${folder}\n`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const args = ["add", "--exact", "--omit=optional", ...packages];
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) {
    throw new Unavailable(
      `its packages could not be installed: ${errors.trim().split("\n").at(-1)}`,
    );
  }
  writeFileSync(stamp, "");
  return modules;
}

/** The part of a package's name that says for which platform its binary is. */
export function platform(): string {
  return `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
}
