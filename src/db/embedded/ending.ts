import { EmbeddedDatabaseError } from "./failure.ts";
import type { ClusterLocation } from "./location.ts";

/**
 * How a server is ended, and how long each step may take. A fast shutdown writes one checkpoint. An immediate
 * one writes nothing, and kills after 5 s those of its processes that have not ended. The next start then
 * replays the log, so each step keeps all committed data.
 */
const END_STEPS = [
  { signal: "SIGINT", patienceMs: 5_000 },
  { signal: "SIGQUIT", patienceMs: 6_000 },
  { signal: "SIGKILL", patienceMs: 2_000 },
] as const;
const POLL_MS = 20;

/** A server that this process may end. */
export type Endable = {
  readonly pid: number;
  /** Whether the process with this id is that server still. */
  isRunning(): boolean;
  kill(signal: NodeJS.Signals): void;
};

/** Ends a server. Throws when it does not end. */
export async function endServer(server: Endable, { log }: ClusterLocation): Promise<void> {
  for (const { signal, patienceMs } of END_STEPS) {
    if (!server.isRunning()) return;
    server.kill(signal);
    const deadline = Date.now() + patienceMs;
    while (server.isRunning() && Date.now() < deadline) await Bun.sleep(POLL_MS);
  }
  if (!server.isRunning()) return;
  throw new EmbeddedDatabaseError(
    `the PostgreSQL with process id ${server.pid} does not end: restart the machine, or set another DATA_DIR (see ${log})`,
  );
}
