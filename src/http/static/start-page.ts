import { VERSION } from "../../domain/version.ts";
import { basePathOf, prefersHtml } from "../request.ts";
import type { MountPage } from "../router.ts";

/**
 * Serves `/`: browsers are sent to the console, other callers get the addresses of the pages that need no
 * credential. The addresses begin with the path of `baseUrl`, but have no host: there may be several.
 */
export function mountStartPage(
  mount: MountPage,
  baseUrl: string,
  links: Readonly<Record<"console" | "docs" | "openapi" | "health", string>>,
): void {
  const base = basePathOf(baseUrl);
  const entries = Object.entries(links).map(([name, path]) => [name, `${base}${path}`]);
  const body = { name: "Tessera", version: VERSION, ...Object.fromEntries(entries) };
  mount("/", (request) =>
    prefersHtml(request.headers)
      ? new Response(null, { status: 302, headers: { location: body["console"], vary: "Accept" } })
      : Response.json(body, { headers: { vary: "Accept" } }),
  );
}
