import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ports that systems give to connections and to listeners that ask for any, so that nobody gets one by chance
 * before it is used: not even a client that tries to connect to it.
 */
const PORTS = { from: 15_000, to: 32_000 } as const;

/** Port of 127.0.0.1 at which nothing listens: it belongs to a service that has not been in use for decades. */
export const NOBODY_PORT = 1;

/**
 * A port of 127.0.0.1 that was free a moment ago, for listeners that come back at the same address. All others ask the
 * system for a port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (await isFree(port)) return port;
  }
}

/** Starts a program that cannot ask the system for a port. Where another program is faster, another port is tried. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (;;) {
    const port = await freePort();
    try {
      return await start(port);
    } catch (error) {
      if (await isFree(port)) throw error;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ host: "127.0.0.1", port });
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  probe.close();
  await once(probe, "close");
  return true;
}
