import { fileURLToPath } from "node:url";
import { Elysia } from "elysia";
import { pageHeaders } from "./page-headers.ts";
import { basePathOf } from "./target.ts";

/** The styles of Swagger UI are partly inline. */
const PAGE_HEADERS = pageHeaders({ styles: "'self' 'unsafe-inline'" });

/** The files of the page, which a package brings along: nothing comes from another host. */
const ASSETS = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
} as const;

const startOf = (path: string) => `window.onload = () => {
  SwaggerUIBundle({ url: "${path}/json", dom_id: "#docs", deepLinking: true, validatorUrl: null });
};
`;

function pageOf(title: string, path: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${Bun.escapeHTML(title)}</title>
<link rel="stylesheet" href="${path}/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="${path}/swagger-ui-bundle.js"></script>
<script src="${path}/start.js"></script>
</body>
</html>
`;
}

function respond(body: string | Blob, type: string): Response {
  return new Response(body, { headers: { ...PAGE_HEADERS, "content-type": type } });
}

/** Where tools look for the document first. */
export const OPENAPI_PATH = "/openapi.json";

/** The paths that `mountDocs` serves. */
export function docsPaths(path: string): string[] {
  return [
    path,
    `${path}/json`,
    OPENAPI_PATH,
    `${path}/start.js`,
    ...Object.keys(ASSETS).map((name) => `${path}/${name}`),
  ];
}

interface ApiDocument {
  readonly info: { readonly title: string };
}

/** The plugin brings 31 modules, which no start waits for either. */
async function serveDocument(path: string, document: ApiDocument): Promise<Elysia> {
  const { swagger } = await import("@elysiajs/swagger");
  // biome-ignore lint/suspicious/noExplicitAny: the plugin types OpenAPI 3.0, the document is 3.1
  return new Elysia().use(swagger({ path, documentation: document as any })) as unknown as Elysia;
}

/**
 * Serves the API's document at `path`/json and the page that shows it at `path`. The page refers to its
 * files below the path of `baseUrl`, but not to its host: it may have others. The document is generated
 * at its first request, so that no start waits for it.
 */
export function mountDocs(
  app: Elysia,
  path: string,
  baseUrl: string,
  documentOf: () => ApiDocument,
): void {
  const base = `${basePathOf(baseUrl)}${path}`;
  let made: ApiDocument | undefined;
  const document = () => {
    made ??= documentOf();
    return made;
  };
  let documentApp: Promise<Elysia> | undefined;
  for (const route of [`${path}/json`, OPENAPI_PATH]) {
    app.get(route, async () => {
      documentApp ??= serveDocument(path, document());
      return (await documentApp).handle(new Request(`http://localhost${path}/json`));
    });
  }
  app.get(path, () => respond(pageOf(document().info.title, base), "text/html; charset=utf-8"));
  app.get(`${path}/start.js`, () => respond(startOf(base), "text/javascript; charset=utf-8"));
  for (const [name, type] of Object.entries(ASSETS)) {
    app.get(`${path}/${name}`, () =>
      respond(Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))), type),
    );
  }
}
