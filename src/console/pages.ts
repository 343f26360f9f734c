import { join } from "node:path";
import type { BuildArtifact } from "bun";
import { FIRST_KEY_ARGUMENTS } from "../domain/first-key.ts";
import { basePathOf } from "../http/request.ts";
import type { MountPage } from "../http/router.ts";
import { pageHeaders } from "../http/static/page-headers.ts";
import { StaticDocument } from "../http/static/static-document.ts";
import { HTML_TYPE } from "../http/static/text-page.ts";
import { lazy } from "../ops/lazy.ts";
import { TtlCache } from "../ops/ttl-cache.ts";

const FOLDER = join(import.meta.dir, "page");
/** Placeholders in the page: the base path of its files, and the command that creates the first API key. */
const BASE_PLACEHOLDER = "{console}";
const FIRST_KEY_PLACEHOLDER = "{first-key}";
const ENTRIES = ["page/main.tsx", "page/main.css"].map((name) => join(import.meta.dir, name));

/** The script and the styles of the page, each in one file, by name. */
async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const { outputs } = await Bun.build({
    entrypoints: ENTRIES,
    target: "browser",
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact" },
  });
  const read = async (file: BuildArtifact) =>
    [file.path.replace(/^.*\//, ""), new Uint8Array(await file.arrayBuffer())] as const;
  return new Map(await Promise.all(outputs.map(read)));
}

type Bytes = Uint8Array<ArrayBuffer>;
type Bundle = Awaited<ReturnType<typeof bundlePage>>;

interface PageFile {
  /** Below the path of the console. */
  readonly name: string;
  readonly type: string;
  readonly read: (bundle: () => Promise<Bundle>) => Promise<Bytes>;
}

function bundled(name: string): PageFile["read"] {
  return async (bundle) => {
    const bytes = (await bundle()).get(name);
    if (bytes === undefined) throw new Error(`the bundle of the console has no ${name}`);
    return bytes;
  };
}

const encoder = new TextEncoder();
const FILES: readonly PageFile[] = [
  { name: "main.js", type: "text/javascript; charset=utf-8", read: bundled("main.js") },
  { name: "main.css", type: "text/css; charset=utf-8", read: bundled("main.css") },
  {
    name: "icon.svg",
    type: "image/svg+xml",
    read: () => Bun.file(join(FOLDER, "icon.svg")).bytes(),
  },
];

/** @param firstKey the command that creates the first API key; "" if the database has a key */
async function pageOf(base: string, firstKey: string): Promise<Bytes> {
  const text = await Bun.file(join(FOLDER, "index.html")).text();
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
  const bundle = lazy(bundlePage);
  const headers = pageHeaders({ markup: "refused" });
  for (const { name, type, read } of FILES) {
    const document = lazy(async () => new StaticDocument(await read(bundle), type, headers));
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
