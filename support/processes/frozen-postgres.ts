import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fault, faultUntil } from "../faults.ts";

export const serverPid = (cluster: string): number =>
  Number.parseInt(readFileSync(join(cluster, "postmaster.pid"), "utf8"), 10);

/** Sends a signal to all processes of a server. */
async function signalAll(cluster: string, name: "SIGSTOP" | "SIGCONT"): Promise<void> {
  const server = serverPid(cluster);
  // Once it is stopped it cannot start others.
  process.kill(server, name);
  const children = await Bun.$`pgrep -P ${server}`.nothrow().text();
  for (const pid of children.split("\n").filter(Boolean).map(Number)) {
    try {
      process.kill(pid, name);
    } catch {
      // A connection's process ended meanwhile.
    }
  }
}

/** Stops all processes of a PostgreSQL where they are. Connections stay open, and nothing answers. */
export async function freezeServer(cluster: string): Promise<Fault> {
  const thawed = faultUntil(() => signalAll(cluster, "SIGCONT"));
  await signalAll(cluster, "SIGSTOP");
  return thawed;
}
