import type { Socket } from "bun";
import { onCleanup } from "../cleanup.ts";
import { type Fault, faultUntil } from "../faults.ts";
import { freePort } from "./ports.ts";

interface Pair {
  other: Socket<Pair> | undefined;
  /** Bytes that the other side has not accepted yet. */
  waiting: Uint8Array[];
}

export interface TestProxy {
  readonly port: number;
  /** Closes all connections and refuses new ones, as if the server were down. */
  cut(): Fault;
  /** Takes bytes and connections as before, and passes nothing on. */
  stall(): Fault;
  /** The same, but in the end the connections are lost without a sign to the client, and new ones are passed on. */
  lose(): Fault;
  /** Passes on all bytes this much later. */
  delay(ms: number): Fault;
  /** Ends the server's half of all connections; bytes that the client sends are lost. */
  halfClose(): void;
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
export async function startProxy(hostname: string, port: number): Promise<TestProxy> {
  const open = new Set<Socket<Pair>>();
  /** Connections whose bytes are not passed on, ever. */
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
  const accept = async (client: Socket<Pair>) => {
    client.data = { other: undefined, waiting: [] };
    open.add(client);
    const data: Pair = { other: client, waiting: [] };
    const server = await Bun.connect<Pair>({ hostname, port, data, socket: handlers });
    open.add(server);
    client.data.other = server;
    pass(client.data);
  };
  const socket = { ...handlers, open: accept };
  // Nobody gets this port by chance while the listener is closed.
  const address = { hostname: "127.0.0.1", port: await freePort() };
  let listener = Bun.listen<Pair>({ ...address, socket });
  const close = () => {
    listener.stop(true);
    for (const socket of open) socket.terminate();
    open.clear();
  };
  const passAll = () => {
    for (const { data } of open) pass(data);
  };
  const forgetAll = () => {
    for (const { data } of open) forgotten.add(data);
  };
  const stallUntil = (end: () => void) => {
    stalled = true;
    return faultUntil(() => {
      end();
      stalled = false;
      passAll();
    });
  };
  onCleanup(close);
  return {
    port: address.port,
    cut() {
      close();
      return faultUntil(() => {
        listener = Bun.listen<Pair>({ ...address, socket });
      });
    },
    stall: () => stallUntil(() => {}),
    lose: () => stallUntil(forgetAll),
    delay(ms) {
      delayMs = ms;
      return faultUntil(() => {
        delayMs = 0;
        passAll();
      });
    },
    halfClose() {
      forgetAll();
      for (const socket of open) socket.shutdown();
    },
  };
}
