import { join } from "node:path";
import { Elysia } from "elysia";
import { lazy } from "../../ops/lazy.ts";
import { basePathOf } from "../request.ts";
import { JSON_TYPE } from "../respond.ts";
import type { MountPage } from "../router.ts";
import { guidePages } from "./guides.ts";
import { pageHeaders } from "./page-headers.ts";
import { StaticDocument } from "./static-document.ts";
import { HTML_TYPE, TEXT_PAGE_HEADERS } from "./text-page.ts";

/** The styles of the reference are partly inline. */
const PAGE_HEADERS = pageHeaders({ styles: "'self' 'unsafe-inline'" });

const SCRIPT_TYPE = "text/javascript; charset=utf-8";

/** The files of the page by name. Nothing comes from another host. */
const ASSETS: Readonly<Record<string, { type: string; read(): Promise<string> }>> = {
  "docs.css": { type: "text/css; charset=utf-8", read: () => textOf("docs.css") },
  "reference.js": { type: SCRIPT_TYPE, read: referenceScript },
  "start.js": {
    type: SCRIPT_TYPE,
    read: async () => new Bun.Transpiler({ loader: "ts" }).transformSync(await textOf("start.ts")),
  },
};

function textOf(file: string): Promise<string> {
  return Bun.file(join(import.meta.dir, "page", file)).text();
}

const escaped = Bun.escapeHTML;

/** The operations by tag. They are shown until the script of the reference has run, which takes a second or two. */
function operationsIn({ tags, paths }: ApiDocument): string {
  const operations = Object.entries(paths as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  );
  const entryOf = ({ method, path, summary }: (typeof operations)[number]) =>
    `<li>${escaped(summary)}<br><code>${method.toUpperCase()} ${escaped(path)}</code></li>`;
  const groups = tags.map(({ name }) => {
    const entries = operations.filter((operation) => operation.tags.includes(name)).map(entryOf);
    return `<h2>${escaped(name)}</h2>\n<ul>\n${entries.join("\n")}\n</ul>`;
  });
  return `<main class="operations">\n${groups.join("\n")}\n</main>`;
}

/** @param base the path of the service, without a trailing slash */
function pageOf(document: ApiDocument, base: string, path: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(document.info.title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${path}/docs.css">
<link rel="preload" href="${path}/json" as="fetch" crossorigin>
</head>
<body>
<nav class="bar" aria-label="Tessera">
<a href="${base}/console">Back to the console</a>
<a href="${path}/guides">Guides</a>
</nav>
<div id="docs" data-service="${base}/" data-document="${path}/json">
${operationsIn(document)}
</div>
<script src="${path}/reference.js"></script>
<script src="${path}/start.js"></script>
</body>
</html>
`;
}

/** Where tools look for the document first. */
export const OPENAPI_PATH = "/openapi.json";

interface ApiDocument {
  readonly info: { readonly title: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: object;
}

/** The operations by path and method. */
type Paths = Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;

interface DocumentedOperation {
  readonly tags: readonly string[];
  readonly summary: string;
}

/** The document in JSON. The plugin brings 31 modules, which no start waits for. */
async function jsonOf(path: string, document: ApiDocument): Promise<Uint8Array<ArrayBuffer>> {
  const { swagger } = await import("@elysiajs/swagger");
  // biome-ignore lint/suspicious/noExplicitAny: the plugin types OpenAPI 3.0, the document is 3.1
  const app = new Elysia().use(swagger({ path, documentation: document as any }));
  const response = await app.handle(new Request(`http://localhost${path}/json`));
  if (!response.ok)
    throw new Error(`the plugin answers ${response.status} instead of the document`);
  return new Uint8Array(await response.arrayBuffer());
}

const encoder = new TextEncoder();

/**
 * Serves the API's document at `path`/json, the page that shows it at `path`, and the guides. The page refers to its
 * files below the path of `baseUrl`, but not to its host: it may have others. All are made
 * at their first request, so that no start waits for them.
 */
export function mountDocs(
  mount: MountPage,
  path: string,
  baseUrl: string,
  documentOf: () => ApiDocument,
): void {
  const base = basePathOf(baseUrl);
  const serve = (routes: readonly string[], make: () => Promise<StaticDocument>) => {
    const document = lazy(make);
    for (const route of routes) {
      mount(route, async (request) => (await document()).respond(request));
    }
  };
  const file = (text: string, type: string, headers = PAGE_HEADERS) =>
    new StaticDocument(encoder.encode(text), type, headers);
  serve([`${path}/json`, OPENAPI_PATH], async () => {
    return new StaticDocument(await jsonOf(path, documentOf()), JSON_TYPE);
  });
  for (const [route, page] of guidePages(base)) {
    serve([route], async () => file(await page(), HTML_TYPE, TEXT_PAGE_HEADERS));
  }
  serve([path], async () => file(pageOf(documentOf(), base, base + path), HTML_TYPE));
  for (const [name, { type, read }] of Object.entries(ASSETS)) {
    serve([`${path}/${name}`], async () => file(await read(), type));
  }
}

interface Reply {
  header(): Reply;
  send(body: string): void;
}

/** A route that the plugin for Fastify registers. */
interface Route {
  readonly url: string;
  handler(request: null, reply: Reply): void;
}

/**
 * The script of Scalar, which shows an OpenAPI document. It is taken from the plugin for Fastify, because that
 * contains it in one file, where the package of the script itself comes with 268 others.
 */
async function referenceScript(): Promise<string> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reply: Reply = { header: () => reply, send: resolve };
  const route = ({ url, handler }: Route) => {
    if (url.endsWith("/scalar.js")) handler(null, reply);
  };
  // Nothing but the script is wanted, so the address of the document does not matter.
  plugin({ route } as never, { configuration: { url: "/" } }, () => {});
  // It registers its routes before it returns.
  reject(new Error("the package of Scalar has no script"));
  return await promise;
}
