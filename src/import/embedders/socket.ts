/** Interval of attempts to reach a process that is starting. */
const START_POLL_MS = 20;
/** Codes of errors of a socket on which no process listens. */
const ABSENT = new Set(["ENOENT", "ECONNREFUSED", "ConnectionRefused", "FailedToOpenSocket"]);

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
