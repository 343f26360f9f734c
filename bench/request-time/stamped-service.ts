import { buildApp } from "../../src/app.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Reply } from "../../src/engine/requests/request.ts";
import { listen } from "../../src/http/listen.ts";
import { loadConfig } from "../../src/ops/config/load.ts";
import { Resources } from "../../src/ops/lifecycle.ts";
import { createLog } from "../../src/ops/observability/log.ts";
import { localUrl } from "../../src/ops/running-service.ts";
import { openServices } from "../../src/services.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { BenchServer } from "../harness/server.ts";

/** Parts of requests on the main thread, added up, in milliseconds. */
const NONE = {
  requests: 0,
  /** From the handler to the engine. */
  before: 0,
  /** In the engine without its native call. */
  queue: 0,
  /** The native call, and its stages, which only searches report. */
  native: 0,
  parse: 0,
  search: 0,
  render: 0,
  /** From the engine to the answer; for a request without one, all of its time. */
  after: 0,
};
export type Parts = typeof NONE;

const HOST = "127.0.0.1";
const CLOSE_MS = 5_000;

/** Notes when requests enter and leave the engine, one request at a time. */
class Stamps {
  #parts = { ...NONE };
  #at = 0;

  /** The sums since the last call. */
  take(): Parts {
    const parts = this.#parts;
    this.#parts = { ...NONE };
    return parts;
  }

  /** The handler of requests with a stamp at its beginning and its end. */
  around(handle: (request: Request) => Response | Promise<Response>) {
    return async (request: Request): Promise<Response> => {
      this.#at = performance.now();
      const response = await handle(request);
      this.#parts.requests++;
      this.#parts.after += this.#lap();
      return response;
    };
  }

  /** A method of the engine with a stamp at its beginning and its end. */
  within<Asked>(ask: (request: Asked) => Reply | Promise<Reply>) {
    return async (request: Asked): Promise<never> => {
      this.#parts.before += this.#lap();
      const reply = await ask(request);
      if (reply.status === "answered") this.#add(reply.work, this.#lap());
      return reply as never;
    };
  }

  #add(work: Extract<Reply, { status: "answered" }>["work"], took: number): void {
    const parts = this.#parts;
    parts.native += work.tookMs;
    parts.queue += took - work.tookMs;
    if (!("parseMs" in work)) return;
    parts.parse += work.parseMs;
    parts.search += work.searchMs;
    parts.render += work.renderMs;
  }

  #lap(): number {
    const before = this.#at;
    this.#at = performance.now();
    return this.#at - before;
  }
}

/** Starts the service in this process, whose processor time is then that of the service. */
export async function startStamped(
  env: Readonly<Record<string, string>>,
): Promise<{ server: BenchServer; stamps: Stamps }> {
  const stamps = new Stamps();
  const config = loadConfig({ DEMO: "off", LOG_LEVEL: "fatal", ...env });
  const log = createLog(config.logLevel);
  const baseUrlOf = (port: number) => localUrl(HOST, port);
  const server = await BenchServer.start(async () => {
    const listener = listen({ host: HOST, port: 0, log, baseUrlOf });
    const baseUrl = baseUrlOf(listener.port);
    const resources = new Resources();
    const opening = { resources, signal: new AbortController().signal };
    const { services } = await openServices(config, { baseUrl, listener }, log, opening);
    const { engine } = services;
    const stamped: Engine = {
      ...engine,
      search: stamps.within(engine.search),
      lookup: stamps.within(engine.lookup),
      retrieve: stamps.within(engine.retrieve),
    };
    const app = buildApp({ ...services, engine: stamped });
    listener.use(stamps.around((request) => app.fetch(request)));
    const stop = onCleanup(async () => {
      await listener.drain(CLOSE_MS);
      await resources.close(CLOSE_MS, () => {});
    });
    return { url: new URL(baseUrl), pid: process.pid, logs: () => "", stop, kill: stop };
  });
  return { server, stamps };
}
