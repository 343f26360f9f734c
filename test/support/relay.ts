import { createServer, connect as open, type Socket } from "node:net";
import { onCleanup } from "../../support/cleanup.ts";
import { freePort } from "../../support/ports.ts";

export type Relay = {
  /** The database's address, by way of the relay. */
  readonly url: string;
  /**
   * Cuts the connection on which these texts pass one after the other, whichever way, in place of
   * passing the last one on, and every other connection with it. From then on nobody gets through.
   * Resolves when that has happened.
   */
  cutAt(...marks: readonly string[]): Promise<void>;
  /** Lets everybody through again. */
  heal(): Promise<void>;
};

/** Stands between a service and PostgreSQL and loses connections at chosen moments. */
export async function startRelay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const sockets = new Set<Socket>();
  let marks: readonly string[] = [];
  let happened = () => {};

  const server = createServer((client) => {
    const upstream = open({ host: target.hostname, port: Number(target.port) });
    let seen = 0;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const pass = (bytes: string | Buffer, to: Socket) => {
      const mark = marks[seen];
      if (mark !== undefined && bytes.includes(mark)) seen++;
      if (marks.length > 0 && seen === marks.length) cut();
      else to.write(bytes);
    };
    client.on("data", (bytes) => pass(bytes, upstream));
    upstream.on("data", (bytes) => pass(bytes, client));
  });

  function cut(): void {
    marks = [];
    server.close();
    for (const socket of sockets) socket.destroy();
    happened();
  }

  const listen = () =>
    new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port }, resolve));
  await listen();
  onCleanup(cut);

  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    cutAt(...texts) {
      const { promise, resolve } = Promise.withResolvers<void>();
      [marks, happened] = [texts, resolve];
      return promise;
    },
    heal: listen,
  };
}
