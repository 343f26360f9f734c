/** A hub of models, as far as they are fetched from it. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

export interface Hub {
  readonly url: string;
  /** The requests for contents: path, and the first byte that was asked for. */
  readonly served: { readonly path: string; readonly from: number }[];
  /** Answers the next requests for contents instead, in order; undefined leaves one to the hub. */
  readonly next: ((path: string, content: Uint8Array) => Response | undefined)[];
  /** False for a server that always sends the whole. */
  ranges: boolean;
}

/** Serves the files of a folder as the repository `owner/name`, the models among them from another address. */
export function startHub(repository: string, folder: string): Hub {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path)] as const),
  );
  const hub: Omit<Hub, "url"> = { served: [], next: [], ranges: true };
  const contents = (path: string, request: Request): Response => {
    const content = files.get(path);
    if (content === undefined) return new Response("Entry not found", { status: 404 });
    const [, first] = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "") ?? [];
    const from = Number(first ?? 0);
    hub.served.push({ path, from });
    const prepared = hub.next.shift()?.(path, content);
    if (prepared !== undefined) return prepared;
    if (first === undefined || !hub.ranges) return new Response(content);
    return new Response(content.subarray(from), { status: 206 });
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      const path = decodeURIComponent(pathname);
      const api = `/api/models/${repository}`;
      if (path === `${api}/revision/main`) return Response.json({ sha: COMMIT });
      if (path === `${api}/tree/${COMMIT}`) return Response.json([...files].map(entryOf));
      const resolved = `/${repository}/resolve/${COMMIT}/`;
      if (path.startsWith("/cdn/")) return contents(path.slice("/cdn/".length), request);
      if (!path.startsWith(resolved)) return new Response("Repository not found", { status: 401 });
      const file = path.slice(resolved.length);
      if (!isLarge(file)) return contents(file, request);
      return new Response(null, { status: 302, headers: { location: `/cdn/${file}` } });
    },
  });
  onCleanup(() => server.stop(true));
  return Object.assign(hub, { url: `http://127.0.0.1:${server.port}` });
}

const isLarge = (path: string) => path.endsWith(".onnx");

function entryOf([path, content]: readonly [string, Buffer]) {
  const size = content.length;
  const oid = createHash("sha1").update(`blob ${size}\0`).update(content).digest("hex");
  const lfs = { oid: createHash("sha256").update(content).digest("hex"), size, pointerSize: 134 };
  return { type: "file", path, size, oid, ...(isLarge(path) ? { lfs } : {}) };
}

/** The answer to a range that breaks off after some bytes. */
export function broken(content: Uint8Array, bytes: number): Response {
  let sent = false;
  const body = new ReadableStream({
    async pull(controller) {
      if (sent) {
        controller.error(new Error("broken"));
        return;
      }
      sent = true;
      controller.enqueue(content.subarray(0, bytes));
      // What was sent is on its way before the connection breaks.
      await Bun.sleep(50);
    },
  });
  return new Response(body, { status: 206 });
}
