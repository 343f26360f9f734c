import pTimeout from "p-timeout";
import {
  BODY_TRANSPORT_MAX_BYTES,
  DRAIN_GRACE_MS,
  IDLE_TIMEOUT_SECONDS,
} from "../domain/limits.ts";
import type { Log } from "../ops/observability/log.ts";
import { withCors } from "./cors.ts";
import { type Handler, requestIdOf } from "./request.ts";
import { problemResponse } from "./respond.ts";
import { StartupResponder } from "./startup-responder.ts";

/** Without a new request within this time, all of them have been read. */
const DRAIN_QUIET_MS = 20;
const DRAIN_POLL_MS = 5;
/** Time for connections to close after the last answer, before they are cut. */
const DRAIN_CLOSE_MS = 100;

export interface Listener {
  readonly port: number;
  /** Lets the application answer, also the requests that arrived before. */
  use(handler: Handler): void;
  /** Names the connection of a running request; "" for a request that came over none. */
  connectionOf(request: Request): string;
  /** Keeps the connection of a running request open while nothing is sent or received. */
  disableIdleTimeout(request: Request): void;
  /** Stops accepting, waits for running requests, and cuts the rest after `deadlineMs`. */
  drain(deadlineMs: number): Promise<void>;
}

/** The port is in use or cannot be bound. The message names the remedy. */
export class ListenError extends Error {}

function listenError(error: unknown, host: string, port: number): unknown {
  const code = (error as { code?: string }).code;
  if (code === "EADDRINUSE") {
    return new ListenError(
      `port ${port} of ${host} is in use: stop the process that listens there, or choose another port with PORT=<number> (PORT=0 picks a free one)`,
    );
  }
  if (code === "EACCES" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new ListenError(`cannot listen on ${host}:${port} (${code}): check HOST and PORT`);
  }
  return error;
}

/**
 * Frees the bytes of a body that nobody has read: they would stay until the next collection of garbage. Each request has
 * a callback of its own, because Bun nests the calls that cancel the bodies of requests that are answered together, and 1,600 of
 * them fill the stack of the main thread for good. By then the connection may be closed, and the body with it.
 */
function freeUnread(request: Request): void {
  if (!request.bodyUsed) setImmediate(() => void request.body?.cancel().catch(() => {}));
}

/** Throws a `ListenError`. */
function bind(
  hostname: string,
  port: number,
  handlers: { fetch: (request: Request) => Promise<Response>; error: (error: unknown) => Response },
) {
  try {
    return Bun.serve({
      ...handlers,
      hostname,
      port,
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_TRANSPORT_MAX_BYTES,
    });
  } catch (error) {
    throw listenError(error, hostname, port);
  }
}

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** {base_url} of the bound port. */
  baseUrlOf(port: number): string;
  readonly log: Log;
  /** The origins whose pages may call the service. */
  readonly corsOrigins?: readonly string[];
}

/**
 * Binds the port at once, so that a port in use is reported before anything else starts. Until
 * `use` is called, requests wait and only the liveness probe succeeds.
 */
export function listen({ host, port, baseUrlOf, log, corsOrigins = [] }: ListenOptions): Listener {
  let handler: Handler;
  let running = 0;
  let received = 0;
  let draining = false;
  const silent = new WeakSet<Request>();

  /** Answers an error that the application has not answered: Bun's own page would show the source. */
  const failed = (error: unknown, requestId = crypto.randomUUID() as string) =>
    problemResponse(error, { baseUrl, requestId, log });

  const answer = withCors(corsOrigins, async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      return failed(error, requestIdOf(request));
    }
  });

  async function counted(request: Request): Promise<Response> {
    running++;
    received++;
    try {
      const response = await answer(request);
      freeUnread(request);
      // Keep-alive connections would otherwise send new requests to a server that is stopping.
      if (draining) response.headers.set("connection", "close");
      return response;
    } finally {
      running--;
      if (silent.has(request)) server.timeout(request, IDLE_TIMEOUT_SECONDS);
    }
  }

  /** Stopping resets connections with an unread request, so requests already sent are read first. */
  async function readPendingRequests(): Promise<void> {
    const end = performance.now() + DRAIN_GRACE_MS;
    for (let before = -1; before !== received && performance.now() < end; ) {
      before = received;
      await Bun.sleep(DRAIN_QUIET_MS);
    }
  }

  const server = bind(host, port, { fetch: counted, error: (error) => failed(error) });
  const bound = server.port as number;
  const baseUrl = baseUrlOf(bound);
  const early = new StartupResponder(baseUrl);
  handler = (request) => early.answer(request, server.requestIP(request)?.address);

  return {
    port: bound,
    use(next) {
      handler = next;
      early.end(next);
    },
    connectionOf(request) {
      const peer = server.requestIP(request);
      return peer === null ? "" : `${peer.address} ${peer.port}`;
    },
    disableIdleTimeout(request) {
      silent.add(request);
      server.timeout(request, 0);
    },
    async drain(deadlineMs) {
      draining = true;
      early.end();
      const deadline = performance.now() + deadlineMs;
      await readPendingRequests();
      const stopped = server.stop();
      while (running > 0 && performance.now() < deadline) await Bun.sleep(DRAIN_POLL_MS);
      const milliseconds = Math.min(DRAIN_CLOSE_MS, deadlineMs);
      await pTimeout(stopped, { milliseconds, message: false });
      void server.stop(true);
    },
  };
}
