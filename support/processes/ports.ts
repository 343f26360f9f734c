import { createServer } from "node:net";

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once("error", reject);
  probe.listen({ host: "127.0.0.1", port: 0 }, () => {
    const address = probe.address();
    const port = typeof address === "object" && address ? address.port : 0;
    probe.close(() => resolve(port));
  });
  return promise;
}
