import type { Socket, TCPSocketListener } from "bun";
import { onCleanup } from "../cleanup.ts";
import { type Fault, faultUntil } from "../faults.ts";
import { freePort } from "./ports.ts";

interface Pair {
  other: Socket<Pair> | undefined;
  /** Bytes that the other side has not accepted yet. */
  waiting: Uint8Array[];
  /** How many of the texts of `cutAt` have passed on the connection, in either direction. */
  readonly seen: { count: number };
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
export class TestProxy {
  readonly #open = new Set<Socket<Pair>>();
  /** Connections whose bytes are not passed on, ever. */
  readonly #forgotten = new WeakSet<Pair>();
  #stalled = false;
  #delayMs = 0;
  #marks: readonly string[] = [];
  #marked = () => {};
  #listener: TCPSocketListener<Pair> | undefined;

  private constructor(
    private readonly server: URL,
    // Nobody gets this port by chance while the listener is closed.
    private readonly port: number,
  ) {}

  static async start(serverUrl: string): Promise<TestProxy> {
    const proxy = new TestProxy(new URL(serverUrl), await freePort());
    proxy.#listen();
    onCleanup(() => proxy.#close());
    return proxy;
  }

  /** The URL of the server through the proxy. */
  get url(): string {
    const url = new URL(this.server);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  /** Closes all connections and refuses new ones, as if the server were down. */
  cut(): Fault {
    this.#close();
    return faultUntil(() => this.#listen());
  }

  /**
   * Does so once these texts have passed in order on one connection. The last one is not passed on. `begun` resolves
   * then.
   */
  cutAt(...marks: readonly string[]): Fault & { readonly begun: Promise<void> } {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    this.#marks = marks;
    this.#marked = () => {
      this.#close();
      resolve();
    };
    return { ...faultUntil(() => this.#listen()), begun };
  }

  /** Takes bytes and connections as before, and passes nothing on. */
  stall(): Fault {
    return this.#stallUntil(() => {});
  }

  /** The same, but in the end the connections are lost without a sign to the client, and new ones are passed on. */
  lose(): Fault {
    return this.#stallUntil(() => this.#forgetAll());
  }

  /** Passes on all bytes this much later. */
  delay(ms: number): Fault {
    this.#delayMs = ms;
    return faultUntil(() => {
      this.#delayMs = 0;
      this.#passAll();
    });
  }

  /** Ends the server's half of all connections; bytes that the client sends are lost. */
  halfClose(): void {
    this.#forgetAll();
    for (const socket of this.#open) socket.shutdown();
  }

  #listen(): void {
    this.#marks = [];
    this.#listener ??= Bun.listen<Pair>({
      hostname: "127.0.0.1",
      port: this.port,
      socket: { ...this.#handlers, open: (client) => this.#accept(client) },
    });
  }

  #close(): void {
    this.#marks = [];
    this.#listener?.stop(true);
    this.#listener = undefined;
    for (const socket of this.#open) socket.terminate();
    this.#open.clear();
  }

  async #accept(client: Socket<Pair>): Promise<void> {
    const seen = { count: 0 };
    client.data = { other: undefined, waiting: [], seen };
    this.#open.add(client);
    const server = await Bun.connect<Pair>({
      hostname: this.server.hostname,
      port: Number(this.server.port),
      data: { other: client, waiting: [], seen },
      socket: this.#handlers,
    });
    this.#open.add(server);
    client.data.other = server;
    this.#pass(client.data);
  }

  readonly #handlers = {
    data: (socket: Socket<Pair>, bytes: Buffer) => this.#receive(socket.data, bytes),
    drain: ({ data }: Socket<Pair>) => {
      if (data.other) this.#pass(data.other.data);
    },
    close: (socket: Socket<Pair>) => {
      this.#open.delete(socket);
      socket.data.other?.end();
    },
    error() {},
  };

  #receive(pair: Pair, bytes: Buffer): void {
    const mark = this.#marks[pair.seen.count];
    if (mark !== undefined && bytes.includes(mark)) {
      pair.seen.count++;
      if (pair.seen.count === this.#marks.length) {
        this.#marked();
        return;
      }
    }
    pair.waiting.push(new Uint8Array(bytes));
    if (this.#delayMs > 0) setTimeout(() => this.#pass(pair), this.#delayMs);
    else this.#pass(pair);
  }

  #pass(pair: Pair): void {
    if (!this.#stalled && !this.#forgotten.has(pair)) flush(pair);
  }

  #passAll(): void {
    for (const { data } of this.#open) this.#pass(data);
  }

  #forgetAll(): void {
    for (const { data } of this.#open) this.#forgotten.add(data);
  }

  #stallUntil(end: () => void): Fault {
    this.#stalled = true;
    return faultUntil(() => {
      end();
      this.#stalled = false;
      this.#passAll();
    });
  }
}
