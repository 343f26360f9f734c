import { listen } from "../../src/http/listen.ts";
import { createLog } from "../../src/ops/observability/log.ts";

export const CONNECTIONS = 600;

/** Prints its port, and answers when requests of all connections have arrived. */
if (import.meta.main) {
  const log = createLog("error");
  const baseUrlOf = (port: number) => `http://127.0.0.1:${port}`;
  const listener = listen({ host: "127.0.0.1", port: 0, baseUrlOf, log });
  const { promise: everybody, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  listener.use(async () => {
    if (++arrived === CONNECTIONS) resolve();
    await everybody;
    return new Response("", { status: 503 });
  });
  console.log(listener.port);
}
