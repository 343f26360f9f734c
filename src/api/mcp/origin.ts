import { Problem } from "../../problem/problem.ts";

/** Names of this machine, which a browser treats as different origins. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

function ownOrigins(baseUrl: string): string[] {
  const url = new URL(baseUrl);
  const names = LOOPBACK.includes(url.hostname) ? LOOPBACK : [url.hostname];
  return names.map((name) => new URL(`${url.protocol}//${name}:${url.port}`).origin);
}

/**
 * Refuses messages from pages of other origins than the service's own and those that are allowed, so
 * that no page reaches the service of a machine under a name of its own. Only browsers send an origin.
 */
export function originCheck(
  baseUrl: string,
  corsOrigins: readonly string[],
): (request: Request) => void {
  const allowed = new Set([...ownOrigins(baseUrl), ...corsOrigins]);
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null || allowed.has(origin)) return;
    throw new Problem("permission-denied", {
      detail:
        "Pages of this origin may not call this operation. CORS_ORIGINS names those that may.",
    });
  };
}
