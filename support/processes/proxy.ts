import type { Socket } from "bun";
import { onCleanup } from "../cleanup.ts";

interface Pair {
  other: Socket<Pair> | undefined;
  /** Bytes that the other side has not accepted yet. */
  waiting: Uint8Array[];
}

export interface TestProxy {
  readonly port: number;
  /** Closes all connections and refuses new ones, as if the server were down. */
  cut(): void;
  /** Takes bytes and connections as before, and passes nothing on. */
  stall(): void;
  /** Passes on what waits, each time this much later. */
  delay(ms: number): void;
  /** Ends the server's half of all connections; what the client sends is lost. */
  halfClose(): void;
  /** Drops the connections that were stalled, without a sign to the client, and passes on new ones. */
  forget(): void;
  restore(): void;
}

function flush(from: Pair): void {
  const { other } = from;
  while (other !== undefined && from.waiting.length > 0) {
    const bytes = from.waiting[0] as Uint8Array;
    const written = other.write(bytes);
    if (written < bytes.length) {
      from.waiting[0] = bytes.subarray(Math.max(0, written));
      return;
    }
    from.waiting.shift();
  }
}

/** A TCP proxy between a service and a server, which a test can make unreachable. */
export function startProxy(hostname: string, port: number): TestProxy {
  const open = new Set<Socket<Pair>>();
  /** Connections of which nothing is passed on any more. */
  const forgotten = new WeakSet<Pair>();
  let stalled = false;
  let delayMs = 0;
  const pass = (pair: Pair) => {
    if (!stalled && !forgotten.has(pair)) flush(pair);
  };
  const handlers = {
    data(socket: Socket<Pair>, bytes: Uint8Array) {
      socket.data.waiting.push(new Uint8Array(bytes));
      if (delayMs > 0) setTimeout(() => pass(socket.data), delayMs);
      else pass(socket.data);
    },
    drain(socket: Socket<Pair>) {
      if (socket.data.other) pass(socket.data.other.data);
    },
    close(socket: Socket<Pair>) {
      open.delete(socket);
      socket.data.other?.end();
    },
    error() {},
  };
  const listen = (at: number) =>
    Bun.listen<Pair>({
      hostname: "127.0.0.1",
      port: at,
      socket: {
        ...handlers,
        async open(client) {
          client.data = { other: undefined, waiting: [] };
          open.add(client);
          const data: Pair = { other: client, waiting: [] };
          const server = await Bun.connect<Pair>({ hostname, port, data, socket: handlers });
          open.add(server);
          client.data.other = server;
          pass(client.data);
        },
      },
    });
  let listener = listen(0);
  const { port: own } = listener;
  let isCut = false;
  const cut = () => {
    isCut = true;
    listener.stop(true);
    for (const socket of open) socket.terminate();
    open.clear();
  };
  onCleanup(cut);
  return {
    port: own,
    cut,
    stall() {
      stalled = true;
    },
    delay(ms) {
      delayMs = ms;
    },
    halfClose() {
      for (const { data } of open) forgotten.add(data);
      for (const socket of open) socket.shutdown();
    },
    forget() {
      for (const { data } of open) forgotten.add(data);
      stalled = false;
    },
    restore() {
      stalled = false;
      delayMs = 0;
      for (const { data } of open) pass(data);
      if (isCut) listener = listen(own);
      isCut = false;
    },
  };
}
