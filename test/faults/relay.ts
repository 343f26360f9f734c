import { once } from "node:events";
import { type AddressInfo, createServer, connect as open, type Socket } from "node:net";
import { onCleanup } from "../../support/cleanup.ts";
import { type Fault, faultUntil } from "../../support/faults.ts";

export type Relay = {
  /** The URL of the database through the relay. */
  readonly url: string;
  /**
   * Waits until these texts have passed in order on one connection, in either direction. The last one is not
   * forwarded: all connections are closed, and so is each new one until the fault ends. `begun` resolves then.
   */
  cutAt(...marks: readonly string[]): Cut;
};

type Cut = Fault & { readonly begun: Promise<void> };

/** A proxy between a service and PostgreSQL that closes connections at chosen moments. */
export async function startRelay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let marks: readonly string[] = [];
  let isCut = false;
  let happened = () => {};

  const server = createServer((client) => {
    // The listener stays open, so that no other program gets its port.
    if (isCut) {
      client.destroy();
      return;
    }
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
    isCut = true;
    for (const socket of sockets) socket.destroy();
    happened();
  }

  await once(server.listen({ host: "127.0.0.1", port: 0 }), "listening");
  onCleanup(() => {
    cut();
    server.close();
  });

  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutAt(...texts) {
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      [marks, happened] = [texts, resolve];
      const fault = faultUntil(() => {
        marks = [];
        isCut = false;
      });
      return { ...fault, begun };
    },
  };
}
