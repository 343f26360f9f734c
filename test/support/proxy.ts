import type { Socket } from "bun";
import { onCleanup } from "../../support/cleanup.ts";

interface Pair {
  other: Socket<Pair> | undefined;
  /** Bytes that the other side has not accepted yet. */
  waiting: Uint8Array[];
}

export interface TestProxy {
  readonly port: number;
  /** Closes all connections and refuses new ones, as if the server were down. */
  cut(): void;
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
  const handlers = {
    data(socket: Socket<Pair>, bytes: Uint8Array) {
      socket.data.waiting.push(new Uint8Array(bytes));
      flush(socket.data);
    },
    drain(socket: Socket<Pair>) {
      if (socket.data.other) flush(socket.data.other.data);
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
          flush(client.data);
        },
      },
    });
  let listener = listen(0);
  const { port: own } = listener;
  const cut = () => {
    listener.stop(true);
    for (const socket of open) socket.terminate();
    open.clear();
  };
  onCleanup(cut);
  return {
    port: own,
    cut,
    restore() {
      listener = listen(own);
    },
  };
}
