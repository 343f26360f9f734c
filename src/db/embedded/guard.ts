import { EMBEDDED_WATCH_INTERVAL_MS, EMBEDDED_WATCH_RETRY_MS } from "../../shared/limits.ts";
import { isAlive } from "./processes.ts";

/**
 * Watches the server and calls `restart` when it has died without anybody stopping it, as it does
 * when the system runs out of memory. Returns a function that ends the watch and waits for a
 * restart that is under way.
 */
export function guard(
  serverPid: () => number | undefined,
  restart: () => Promise<void>,
  log: (line: string) => void,
): () => Promise<void> {
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;

  const look = async (): Promise<void> => {
    const pid = serverPid();
    let pause = EMBEDDED_WATCH_INTERVAL_MS;
    if (pid === undefined || !isAlive(pid)) {
      log("PostgreSQL has ended unexpectedly and is started again");
      try {
        await restart();
      } catch (error) {
        pause = EMBEDDED_WATCH_RETRY_MS;
        log(error instanceof Error ? error.message : String(error));
      }
    }
    schedule(pause);
  };

  function schedule(pause: number): void {
    if (ended) return;
    timer = setTimeout(() => {
      running = look();
    }, pause);
    // A watch is no reason for a process to stay.
    timer.unref();
  }

  schedule(EMBEDDED_WATCH_INTERVAL_MS);
  return async () => {
    ended = true;
    clearTimeout(timer);
    await running;
  };
}
