import type { Socket } from "bun";
import { onCleanup } from "../../support/cleanup.ts";

interface Pair {
  other: Socket<Pair> | undefined;
  /** Bytes that came before the other side was connected, or that it did not take yet. */
  waiting: Uint8Array[];
}

export interface TestProxy {
  readonly port: number;
  /** Breaks all connections and takes no more, as a server that went away. */
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

/** Stands between a service and a server of TCP, so that a test can take the server away. */
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
