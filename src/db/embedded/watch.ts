import { EMBEDDED_WATCH_INTERVAL_MS, EMBEDDED_WATCH_RETRY_MS } from "../../shared/limits.ts";
import { isAlive } from "./processes.ts";

/**
 * Watches the server and calls `restart` when it has died, for example because the system ran out
 * of memory. Returns a function that ends the watch and waits for a running restart.
 */
export function watchServer(
  serverPid: () => number | undefined,
  restart: () => Promise<void>,
  log: (line: string) => void,
): () => Promise<void> {
  let ended = false;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;

  const check = async (): Promise<void> => {
    const pid = serverPid();
    let pause = EMBEDDED_WATCH_INTERVAL_MS;
    if (pid === undefined || !isAlive(pid)) {
      log("PostgreSQL has ended unexpectedly; starting it again");
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
      running = check();
    }, pause);
    // The watch does not keep the process running.
    timer.unref();
  }

  schedule(EMBEDDED_WATCH_INTERVAL_MS);
  return async () => {
    ended = true;
    clearTimeout(timer);
    await running;
  };
}
