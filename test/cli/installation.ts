import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** The account `nobody`, which exists everywhere and owns nothing. */
const NOBODY = 65_534;
/** What a user has after a clone and the first command. */
const CONTENTS = [
  ...["LICENSE", "README.md", "bun.lock", "bunfig.toml", "package.json", "tessera"],
  ...["client", "docs", "fixtures", "native", "patches", "scripts", "src", "workers"],
];

const isRoot = process.getuid?.() === 0;

/** The command, run by an ordinary account if this process is root. */
export function asOrdinaryUser(...command: string[]): string[] {
  if (!isRoot) return command;
  return ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...command];
}

/**
 * A copy of the project outside the repository and an empty home, both owned by an ordinary account. The
 * dependencies are those of this repository, if the account can read them.
 */
export function installForOrdinaryUser(): { readonly root: string; readonly home: string } {
  const folder = temporaryFolder("installation");
  const [root, home] = [join(folder, "tessera"), join(folder, "home")];
  mkdirSync(home);
  for (const name of CONTENTS) {
    cpSync(join(PROJECT_ROOT, name), join(root, name), { recursive: true });
  }
  cpSync(process.execPath, join(root, ".cache", `bun-${Bun.version}`, "bun"));
  const modules = join(PROJECT_ROOT, "node_modules");
  const readable = Bun.spawnSync(
    asOrdinaryUser("test", "-r", join(modules, "yaml", "package.json")),
  );
  if (readable.success) symlinkSync(modules, join(root, "node_modules"));
  // Links between libraries stay relative: the account cannot follow them to this repository.
  else cpSync(modules, join(root, "node_modules"), { recursive: true, verbatimSymlinks: true });
  if (isRoot) Bun.spawnSync(["chown", "-R", "--no-dereference", `${NOBODY}:${NOBODY}`, root, home]);
  return { root, home };
}
