import { Problem } from "../problem/problem.ts";

/**
 * Resolves in the next turn of the event loop, and throws when the client has gone away by then. Bun
 * closes a connection on which a second request arrives before the first is answered. Both usually
 * arrive together, so waiting a turn before a change is made keeps a change that could not be
 * answered from being made at all.
 */
export async function requireClient(request: Request): Promise<void> {
  const { signal } = request;
  await new Promise((resolve) => setImmediate(resolve));
  if (!signal.aborted) return;
  throw new Problem("validation-failed", { detail: "The client has closed the connection." });
}
