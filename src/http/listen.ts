import pTimeout from "p-timeout";
import {
  BODY_TRANSPORT_MAX_BYTES,
  DRAIN_CLOSE_MS,
  DRAIN_GRACE_MS,
  DRAIN_POLL_MS,
  DRAIN_QUIET_MS,
  IDLE_TIMEOUT_SECONDS,
  STARTING_RETRY_AFTER_SECONDS,
} from "../shared/limits.ts";

export type Handler = (request: Request) => Response | Promise<Response>;

export interface Listener {
  readonly port: number;
  /** Puts the application in place of the answer that the service is still starting. */
  use(handler: Handler): void;
  /** Stops accepting, waits for what runs, and cuts what is left after `deadlineMs`. */
  drain(deadlineMs: number): Promise<void>;
}

/** The port is taken, or not ours to take. */
export class ListenError extends Error {}

/** Elysia looks for a request's path from this place of its address on. */
const PATH_EARLIEST = "http://host".length;

/**
 * The request under an address that can be taken apart. Without a Host header, or with a malformed
 * one, the address is the path alone; with a very short one the path would not be found. Nothing
 * that is answered depends on the host.
 */
function addressed(request: Request): Request {
  const { url } = request;
  const path = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  if (path >= PATH_EARLIEST) return request;
  return new Request(`http://localhost${url.slice(path)}`, request);
}

function starting(request: Request): Response {
  if (new URL(request.url).pathname === "/livez") return Response.json({ status: "ok" });
  const body = { status: "not_ready", reasons: { service: "is starting" } };
  return Response.json(body, {
    status: 503,
    headers: { "retry-after": String(STARTING_RETRY_AFTER_SECONDS) },
  });
}

function listenError(error: unknown, host: string, port: number): unknown {
  const code = (error as { code?: string }).code;
  if (code === "EADDRINUSE") {
    return new ListenError(
      `port ${port} of ${host} is in use: stop what listens there, or choose another one with PORT=<number> (PORT=0 picks a free one)`,
    );
  }
  if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new ListenError(`cannot listen on ${host}:${port} (${code}): check HOST and PORT`);
  }
  return error;
}

/**
 * Takes the port at once, so that a taken one is known before anything else is started. Until
 * `use` is called, only the liveness probe succeeds.
 */
export function listen(host: string, port: number): Listener {
  let handler: Handler = starting;
  let running = 0;
  let taken = 0;
  let draining = false;

  async function counted(request: Request): Promise<Response> {
    running++;
    taken++;
    try {
      const response = await handler(addressed(request));
      // Keep-alive connections would otherwise bring new requests to a server that goes away.
      if (draining) response.headers.set("connection", "close");
      return response;
    } finally {
      running--;
    }
  }

  /** Stopping resets connections with an unread request, so those that were sent are read first. */
  async function readWhatWasSent(): Promise<void> {
    const end = performance.now() + DRAIN_GRACE_MS;
    for (let before = -1; before !== taken && performance.now() < end; ) {
      before = taken;
      await Bun.sleep(DRAIN_QUIET_MS);
    }
  }

  let server: ReturnType<typeof Bun.serve>;
  try {
    server = Bun.serve({
      hostname: host,
      port,
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_TRANSPORT_MAX_BYTES,
      fetch: counted,
    });
  } catch (error) {
    throw listenError(error, host, port);
  }

  return {
    port: server.port as number,
    use(next) {
      handler = next;
    },
    async drain(deadlineMs) {
      draining = true;
      const deadline = performance.now() + deadlineMs;
      await readWhatWasSent();
      const stopped = server.stop();
      while (running > 0 && performance.now() < deadline) await Bun.sleep(DRAIN_POLL_MS);
      const milliseconds = Math.min(DRAIN_CLOSE_MS, deadlineMs);
      await pTimeout(stopped, { milliseconds, message: false });
      void server.stop(true);
    },
  };
}
