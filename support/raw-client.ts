import { ResponseReader } from "./response-reader.ts";

/** How a request was answered. */
export interface Outcome {
  /** The status, or 0 when the connection was closed before the answer. */
  readonly status: number;
  readonly milliseconds: number;
}

interface Pending {
  readonly sentAt: number;
  readonly resolve: (outcome: Outcome) => void;
}

type RawSocket = { write(bytes: Uint8Array): number; end(): void; terminate(): void };

/**
 * A keep-alive connection that sends ready-made requests one at a time, and costs less than fetch.
 * It connects again when the server has closed it.
 */
export class RawClient {
  #socket: RawSocket | undefined;
  #pending: Pending | undefined;
  #unsent: Uint8Array = new Uint8Array();
  readonly #reader = new ResponseReader();

  /** @param url http:// or https://; only its host and port matter */
  constructor(private readonly url: URL) {}

  /** Sends a whole request. The time counts from `since`, by default from now. */
  async send(request: Uint8Array, since = performance.now()): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#pending = { sentAt: since, resolve };
    try {
      this.#socket ??= await this.#connect();
      this.#unsent = request;
      this.#push();
    } catch {
      this.#answer(0);
    }
    return await promise;
  }

  close(): void {
    this.#socket?.end();
    this.#socket = undefined;
  }

  /** Breaks the connection off; a request that waits for its answer ends with status 0. */
  abort(): void {
    this.#socket?.terminate();
    this.#closed();
  }

  async #connect(): Promise<RawSocket> {
    const { hostname, port, protocol } = this.url;
    const isSecure = protocol === "https:";
    // A connection that was given up may end late, and must not end the request of its successor.
    const closed = (socket: RawSocket) => {
      if (this.#socket === undefined || this.#socket === socket) this.#closed();
    };
    return await Bun.connect({
      hostname,
      port: Number(port || (isSecure ? 443 : 80)),
      tls: isSecure,
      socket: {
        drain: () => this.#push(),
        data: (_, bytes) => this.#receive(bytes),
        close: closed,
        error: closed,
      },
    });
  }

  #push(): void {
    if (this.#unsent.length === 0 || this.#socket === undefined) return;
    this.#unsent = this.#unsent.subarray(Math.max(0, this.#socket.write(this.#unsent)));
  }

  #receive(bytes: Buffer): void {
    const head = this.#reader.receive(bytes);
    if (head === undefined) return;
    if (head.closes) this.close();
    this.#answer(head.status);
  }

  #closed(): void {
    this.#socket = undefined;
    this.#reader.reset();
    this.#answer(0);
  }

  #answer(status: number): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#unsent = new Uint8Array();
    pending?.resolve({ status, milliseconds: performance.now() - pending.sentAt });
  }
}
