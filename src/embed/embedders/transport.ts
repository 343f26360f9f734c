/** Interval of attempts to reach a process that is starting. */
const START_POLL_MS = 20;
/** Codes of errors of a socket on which no process listens. */
const ABSENT = new Set(["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"]);
/** A request without an answer for this long is sent once more: one of several processes at an address may be down. */
const LATE_MS = 1_500;
/** The pause after a request that has failed immediately. */
const FAILED_PAUSE_MS = 100;

/**
 * Sends requests to a process that listens on a Unix socket, which is started if it does not run. A request waits
 * for it until its signal ends it.
 */
export function overSocket(
  path: string,
  start: () => void,
): (url: string, request: RequestInit) => Promise<Response> {
  return async (url, request) => {
    for (;;) {
      try {
        // A process that ends when it is idle would close a connection that was kept.
        return await fetch(url, { ...request, unix: path, keepalive: false });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (request.signal?.aborted === true || !ABSENT.has(code ?? "")) throw error;
        start();
        await Bun.sleep(START_POLL_MS);
      }
    }
  };
}

/** The pause that an error asks for before a second try, 0 without one; undefined for an error that a second try would repeat. */
type PauseOf = (error: unknown) => number | undefined;

/**
 * Sends a request, and a second time when the first one fails or is late, if there is time. The first success counts.
 * Throws the error of the last try.
 */
export async function withSecondTry<T>(
  send: (timeoutMs: number) => Promise<T>,
  timeoutMs: number,
  pauseOf: PauseOf,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  const left = () => deadline - performance.now();
  const first = send(timeoutMs);
  const { promise: late, resolve } = Promise.withResolvers<true>();
  const timer = setTimeout(() => resolve(true), LATE_MS);
  const hasFailed = async () => {
    try {
      await first;
      return false;
    } catch (error) {
      clearTimeout(timer);
      const pause = pauseOf(error);
      if (pause === undefined || Math.max(pause, FAILED_PAUSE_MS) >= left()) throw error;
      await Bun.sleep(Math.max(pause, FAILED_PAUSE_MS));
      return true;
    }
  };
  try {
    const needsAnother = await Promise.race([hasFailed(), late]);
    if (!needsAnother || left() <= 0) return await first;
    return await Promise.any([first, send(left())]);
  } catch (error) {
    throw error instanceof AggregateError ? error.errors.at(-1) : error;
  } finally {
    clearTimeout(timer);
  }
}
