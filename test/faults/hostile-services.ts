import { gzipSync } from "node:zlib";
import { onCleanup } from "../../support/cleanup.ts";

const MEGABYTE = 1_048_576;
const BOMB_BYTES = 256 * MEGABYTE;

/** A server that another one calls, and that has turned against it. */
export interface HostileServer {
  readonly url: string;
  /** What it does with the next requests. */
  behaviour: string;
  /** Answers with the behaviour `good`. */
  good: (request: Request) => Response | Promise<Response>;
  /** Paths of requests to where it redirects, which nobody may follow. */
  readonly strayed: string[];
  /** How often it was asked. */
  readonly asked: number;
  /** Bytes of an answer without end that were taken from it. */
  readonly sent: number;
}

/** A body of `piece` again and again, as long as somebody reads it. */
function endless(piece: () => Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(to) {
      to.enqueue(piece());
      // The reader gets a turn, and with it the chance to give up.
      await Bun.sleep(0);
    },
  });
}

let compressed: Uint8Array<ArrayBuffer> | undefined;
/** Much in little, compressed once. */
function bomb(): Uint8Array<ArrayBuffer> {
  compressed ??= new Uint8Array(gzipSync(new Uint8Array(BOMB_BYTES).fill(32)));
  return compressed;
}

interface Lure {
  readonly inner: string;
  readonly count: (bytes: number) => void;
}

/** What it may do with any request. */
const BEHAVIOURS: Readonly<Record<string, (lure: Lure, request: Request) => Response>> = {
  "redirects to this machine with 302": ({ inner }) => Response.redirect(`${inner}/secret`, 302),
  "redirects to this machine with 307": ({ inner }) => Response.redirect(`${inner}/secret`, 307),
  "redirects to this machine with 308": ({ inner }) => Response.redirect(`${inner}/secret`, 308),
  "redirects to another protocol": () =>
    new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } }),
  "answers without end": ({ count }) =>
    new Response(
      endless(() => {
        count(MEGABYTE);
        return new Uint8Array(MEGABYTE).fill(32);
      }),
    ),
  "fails without end": ({ count }) =>
    new Response(
      endless(() => {
        count(MEGABYTE);
        return new Uint8Array(MEGABYTE).fill(32);
      }),
      { status: 400 },
    ),
  "answers with a bomb": () =>
    new Response(bomb(), {
      headers: { "content-encoding": "gzip", "content-type": "application/json" },
    }),
  "answers with broken compression": () =>
    new Response("no gzip", { headers: { "content-encoding": "gzip" } }),
  "answers with garbage": () => new Response("\u0000<<<{{{\u001b[2J"),
  "answers with a page": () =>
    new Response("<!doctype html><title>Sign in</title>", {
      headers: { "content-type": "text/html", "set-cookie": "session=1" },
    }),
  "answers with deep JSON": () =>
    new Response("[".repeat(100_000), { headers: { "content-type": "application/json" } }),
  "answers with null": () => Response.json(null),
  "answers with other JSON": () => Response.json({ data: [[[{}]]], keys: [7], id: {} }),
  "answers with nothing": () => new Response(null, { status: 204 }),
  "repeats the credential": (_, { headers }) =>
    Response.json(
      { error: { message: `no ${headers.get("authorization")}`, type: "invalid_request_error" } },
      { status: 400 },
    ),
  "refuses with a page": () => new Response("<h1>Forbidden</h1>", { status: 403 }),
  "fails with a page": () => new Response("<h1>Error</h1>", { status: 500 }),
};

export const HOSTILE_BEHAVIOURS = Object.keys(BEHAVIOURS);

/** Starts one that is good at first. */
export function startHostile(): HostileServer {
  const strayed: string[] = [];
  const inner = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      strayed.push(new URL(request.url).pathname);
      return Response.json({});
    },
  });
  const state = {
    url: "",
    behaviour: "good",
    good: (): Response => Response.json({}),
    strayed,
    asked: 0,
    sent: 0,
  };
  const lure: Lure = {
    inner: `http://localhost:${inner.port}`,
    count: (bytes) => {
      state.sent += bytes;
    },
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      state.asked++;
      return (
        (await BEHAVIOURS[state.behaviour]?.(lure, request)) ??
        (await (state as HostileServer).good(request))
      );
    },
  });
  for (const each of [inner, server]) onCleanup(() => each.stop(true));
  state.url = `http://127.0.0.1:${server.port}`;
  return state;
}
