import { statSync } from "node:fs";
import { dirname } from "node:path";
import { EmbeddedDatabaseError } from "./failure.ts";

/** The operating system account that runs PostgreSQL's programs. */
export type Account = { readonly uid: number; readonly gid: number };

/** The account of this process. */
export function ownAccount(): Account {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * PostgreSQL refuses to run as root. Root therefore runs it as another account: the one of a
 * PostgreSQL package, else one created for this purpose, else `nobody`.
 */
export function accountForNewCluster(): Account {
  if (!isRoot()) return ownAccount();
  const account =
    lookUp("postgres") ??
    lookUp("_postgres") ??
    lookUp("tessera") ??
    create("tessera") ??
    lookUp("nobody");
  if (account) return account;
  throw new EmbeddedDatabaseError(
    "PostgreSQL refuses to run as root and no other account could be created: run as an ordinary user, or set DATABASE_URL",
  );
}

/**
 * Whether the account can enter every folder above `path`. Only root calls this, for another
 * account, so the permission bits suffice; access control lists are ignored.
 */
export function canReach(account: Account, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const status = statSync(folder);
    const bit = status.uid === account.uid ? 0o100 : status.gid === account.gid ? 0o010 : 0o001;
    if ((status.mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function lookUp(name: string): Account | undefined {
  const uid = numberFrom(["id", "-u", name]);
  const gid = numberFrom(["id", "-g", name]);
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { uid, gid };
}

function create(name: string): Account | undefined {
  const commands = [
    [
      "useradd",
      "--system",
      "--user-group",
      "--no-create-home",
      "--shell",
      "/usr/sbin/nologin",
      name,
    ],
    ["adduser", "-S", "-D", "-H", name],
  ];
  for (const command of commands) {
    if (run(command) !== undefined) return lookUp(name);
  }
  return undefined;
}

function numberFrom(command: string[]): number | undefined {
  const output = run(command)?.trim();
  return output !== undefined && /^\d+$/.test(output) ? Number(output) : undefined;
}

/** The standard output of a command that succeeded; undefined when it failed or does not exist. */
function run(command: string[]): string | undefined {
  try {
    const result = Bun.spawnSync(command, { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    return result.success ? result.stdout.toString() : undefined;
  } catch {
    return undefined;
  }
}
