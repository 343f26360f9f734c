import { join } from "node:path";
import { basePathOf } from "../http/request.ts";
import type { MountPage } from "../http/router.ts";
import { pageHeaders } from "../http/static/page-headers.ts";
import { StaticDocument } from "../http/static/static-document.ts";
import { lazy } from "../shared/lazy.ts";
import { bundlePage } from "./bundle.ts";

const FOLDER = join(import.meta.dir, "page");
/** In the page, the path below which its files are. */
const PLACEHOLDER = "{console}";

type Bytes = Uint8Array<ArrayBuffer>;
type Bundle = Awaited<ReturnType<typeof bundlePage>>;

interface PageFile {
  /** Below the path of the console; empty for the page itself. */
  readonly name: string;
  readonly type: string;
  readonly read: (base: string, bundle: () => Promise<Bundle>) => Promise<Bytes>;
}

function bundled(name: string): PageFile["read"] {
  return async (_, bundle) => {
    const bytes = (await bundle()).get(name);
    if (bytes === undefined) throw new Error(`the bundle of the console has no ${name}`);
    return bytes;
  };
}

const encoder = new TextEncoder();
const FILES: readonly PageFile[] = [
  {
    name: "",
    type: "text/html; charset=utf-8",
    read: async (base) => {
      const text = await Bun.file(join(FOLDER, "index.html")).text();
      return encoder.encode(text.replaceAll(PLACEHOLDER, base));
    },
  },
  { name: "main.js", type: "text/javascript; charset=utf-8", read: bundled("main.js") },
  { name: "main.css", type: "text/css; charset=utf-8", read: bundled("main.css") },
  {
    name: "icon.svg",
    type: "image/svg+xml",
    read: () => Bun.file(join(FOLDER, "icon.svg")).bytes(),
  },
];

/**
 * Serves the console at `path`: a page that calls the operations with the caller's own credential, and
 * so needs none itself. It is bundled when it is asked for first, so that no start waits for it, and its
 * files are sent unless the browser has them.
 */
export function mountConsole(mount: MountPage, path: string, baseUrl: string): void {
  const base = `${basePathOf(baseUrl)}${path}`;
  const bundle = lazy(bundlePage);
  const headers = pageHeaders({ markup: "refused" });
  for (const file of FILES) {
    const document = lazy(
      async () => new StaticDocument(await file.read(base, bundle), file.type, headers),
    );
    const route = file.name === "" ? path : `${path}/${file.name}`;
    mount(route, async (request) => (await document()).respond(request));
  }
}
