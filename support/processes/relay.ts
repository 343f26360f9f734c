import { createServer, connect as open, type Socket } from "node:net";
import { onCleanup } from "../cleanup.ts";
import { freePort } from "./ports.ts";

export type Relay = {
  /** The URL of the database through the relay. */
  readonly url: string;
  /**
   * Waits until these texts have passed in order on one connection, in either direction. The last one
   * is not forwarded: all connections are closed and new ones are refused. Then it resolves.
   */
  cutAt(...marks: readonly string[]): Promise<void>;
  /** Accepts connections again. */
  heal(): Promise<void>;
};

/** A proxy between a service and PostgreSQL that closes connections at chosen moments. */
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
