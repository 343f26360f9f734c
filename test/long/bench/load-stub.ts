import { onCleanup } from "../../../support/cleanup.ts";

/** What the stand-in service answers to the search of this number. */
export type Behaviour = (search: number) => Promise<Response> | Response;

const EMPTY = { data: [], page_info: {}, search_time_ms: 0, total_matches: 0 };

export const found = (): Response => Response.json(EMPTY, { headers: { "x-search-plan": "scan" } });

/** A stand-in for the service, whose searches behave as a test asks for. Returns its address. */
export function startStub(behaviour: Behaviour): string {
  let searches = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      return pathname.endsWith("/search")
        ? behaviour(searches++)
        : new Response("{}", { status: 404 });
    },
  });
  onCleanup(() => server.stop(true));
  return server.url.origin;
}
