import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to connections and to listeners that ask for any, so that nobody gets one by chance
 * before it is used: not even a client that tries to connect to it.
 */
const PORTS = { from: 15_000, to: 32_000 } as const;

/** A port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    const probe = createServer().listen({ host: "127.0.0.1", port });
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
