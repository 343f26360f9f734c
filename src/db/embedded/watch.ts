import { isAlive } from "./processes.ts";

/** How often a process checks that the server it uses still runs. */
const EMBEDDED_WATCH_INTERVAL_MS = 500;
/** The pause after a failed restart of the server. */
const EMBEDDED_WATCH_RETRY_MS = 10_000;

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
    let pause = EMBEDDED_WATCH_INTERVAL_MS;
    try {
      const pid = serverPid();
      if (pid === undefined || !isAlive(pid)) {
        log("PostgreSQL has ended unexpectedly; starting it again");
        await restart();
      }
    } catch (error) {
      pause = EMBEDDED_WATCH_RETRY_MS;
      log(error instanceof Error ? error.message : String(error));
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
