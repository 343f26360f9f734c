// Builds the package before it is packed, and when a folder installs it from its sources. TypeScript is that of the
// repository, or else comes from npm, because npm installs no development dependencies of an installed folder.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const tsc = join(folder, "../node_modules/typescript/bin/tsc");
const command = existsSync(tsc)
  ? [process.execPath, [tsc]]
  : ["npx", ["--yes", "--package=typescript@5.9.3", "tsc"]];

rmSync(join(folder, "dist"), { recursive: true, force: true });
const [program, args] = command;
const { status } = spawnSync(program, [...args, "-p", "tsconfig.json"], {
  cwd: folder,
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(status ?? 1);
