import { readFileSync } from "node:fs";
import { EmbeddedDatabaseError } from "./failure.ts";

/** The operating system account that runs PostgreSQL's programs. */
export type Account = { readonly uid: number; readonly gid: number };

/** The accounts of PostgreSQL packages, and the one that is created on a system without them. */
const NAMES = ["postgres", "_postgres", "tessera"] as const;
const CREATE = "useradd --system --user-group --no-create-home --shell /usr/sbin/nologin tessera";

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** PostgreSQL refuses to run as root, which therefore runs it as another account. */
export function accountForNewCluster(): Account {
  if (!isRoot()) return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const known = NAMES.map(lookUp).find((account) => account !== undefined);
  if (known !== undefined) return known;
  Bun.spawnSync(["sh", "-c", CREATE], { stdin: "ignore", stderr: "ignore" });
  const account = lookUp("tessera") ?? lookUp("nobody");
  if (account !== undefined) return account;
  throw new EmbeddedDatabaseError(
    "PostgreSQL refuses to run as root and no other account could be created: run as an ordinary user, or set DATABASE_URL",
  );
}

function lookUp(name: string): Account | undefined {
  const line = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, "m");
  const [, uid, gid] = line.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Whether the account can enter a folder (-x), or read a file (-r). It always can unless this process is root. */
export function canUse(account: Account, right: "-x" | "-r", path: string): boolean {
  return !isRoot() || Bun.spawnSync(["test", right, path], { cwd: "/", ...account }).success;
}
