import { join } from "node:path";
import { FIRST_KEY_ARGUMENTS } from "../domain/first-key.ts";
import { basePathOf } from "../http/request.ts";
import type { MountPage } from "../http/router.ts";
import { pageHeaders } from "../http/static/page-headers.ts";
import { StaticDocument } from "../http/static/static-document.ts";
import { HTML_TYPE } from "../http/static/text-page.ts";
import { lazy } from "../ops/lazy.ts";
import { TtlCache } from "../ops/ttl-cache.ts";

const fileOf = (name: string) => join(import.meta.dir, "page", name);
/** Placeholders in the page: the base path of its files, and the command that creates the first API key. */
const BASE_PLACEHOLDER = "{console}";
const FIRST_KEY_PLACEHOLDER = "{first-key}";

/** The files of the page below the path of the console, with their types. */
const TYPES: Readonly<Record<string, string>> = {
  "main.js": "text/javascript; charset=utf-8",
  "main.css": "text/css; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/** The script and the styles, each bundled in one file, and the icon, by name. */
async function readFiles(): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const { outputs } = await Bun.build({
    entrypoints: [fileOf("main.tsx"), fileOf("main.css")],
    target: "browser",
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact" },
  });
  const files = new Map([["icon.svg", await Bun.file(fileOf("icon.svg")).bytes()]]);
  for (const output of outputs) {
    files.set(output.path.replace(/^.*\//, ""), new Uint8Array(await output.arrayBuffer()));
  }
  return files;
}

const encoder = new TextEncoder();

/** @param firstKey the command that creates the first API key; "" if the database has a key */
async function pageOf(base: string, firstKey: string): Promise<Uint8Array<ArrayBuffer>> {
  const text = await Bun.file(fileOf("index.html")).text();
  return encoder.encode(
    text.replaceAll(BASE_PLACEHOLDER, base).replace(FIRST_KEY_PLACEHOLDER, firstKey),
  );
}

/**
 * Serves the console at `path`: a page that calls the operations with the caller's own credential, so requests for the
 * page need no credential. It is bundled at its first request, so that a start does not wait for it. Its files are sent
 * unless the browser has them. Until the first key exists, the page shows the command that creates it.
 */
export function mountConsole(
  mount: MountPage,
  path: string,
  baseUrl: string,
  hasKeys: () => Promise<boolean>,
): void {
  const base = `${basePathOf(baseUrl)}${path}`;
  const files = lazy(readFiles);
  const headers = pageHeaders({ markup: "refused" });
  for (const [name, type] of Object.entries(TYPES)) {
    const document = lazy(async () => {
      const bytes = (await files()).get(name);
      if (bytes === undefined) throw new Error(`the bundle of the console has no ${name}`);
      return new StaticDocument(bytes, type, headers);
    });
    mount(`${path}/${name}`, async (request) => (await document()).respond(request));
  }
  const page = (firstKey: string) =>
    lazy(async () => new StaticDocument(await pageOf(base, firstKey), HTML_TYPE, headers));
  const usual = page("");
  const first = page(`./tessera ${FIRST_KEY_ARGUMENTS}`);
  const known = new TtlCache<boolean>();
  mount(path, async (request) => {
    // A page without the hint is better than a failure.
    const isUsual = await Promise.resolve(known.get("", hasKeys)).catch(() => true);
    return (await (isUsual ? usual() : first())).respond(request);
  });
}
