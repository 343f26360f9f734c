const HEADER_END = "\r\n\r\n";
/** How a body in chunks ends. The bodies of the service contain no such line breaks. */
const LAST_CHUNK = "0\r\n\r\n";

/** The head of a response. */
export interface ResponseHead {
  readonly status: number;
  /** True if the server closes the connection after the response. */
  readonly closes: boolean;
}

/** Finds the ends of the responses on a connection, whose bodies have a length or come in chunks. */
export class ResponseReader {
  /** What has arrived of a head that is not complete. */
  #unread = Buffer.alloc(0);
  #head: ResponseHead | undefined;
  /** Bytes of the body that have not arrived; infinite for one in chunks. */
  #missing = 0;
  #tail = "";

  /** Takes the next bytes, of one response at most. Its head once it is complete, otherwise undefined. */
  receive(bytes: Buffer): ResponseHead | undefined {
    if (this.#head === undefined) this.#readHead(bytes);
    else this.#missing -= bytes.length;
    if (this.#head === undefined) return undefined;
    const end = bytes.subarray(-LAST_CHUNK.length).toString("latin1");
    this.#tail = (this.#tail + end).slice(-LAST_CHUNK.length);
    const isChunked = this.#missing === Number.POSITIVE_INFINITY;
    if (isChunked ? this.#tail !== LAST_CHUNK : this.#missing > 0) return undefined;
    const head = this.#head;
    this.reset();
    return head;
  }

  /** Begins with the first response of a new connection. */
  reset(): void {
    this.#unread = Buffer.alloc(0);
    this.#head = undefined;
    this.#tail = "";
  }

  #readHead(bytes: Buffer): void {
    const unread = this.#unread.length === 0 ? Buffer.from(bytes) : [this.#unread, bytes];
    this.#unread = Array.isArray(unread) ? Buffer.concat(unread) : unread;
    const end = this.#unread.indexOf(HEADER_END);
    if (end < 0) return;
    const text = this.#unread.toString("latin1", 0, end);
    this.#head = { status: Number(text.slice(9, 12)), closes: /^connection: *close/im.test(text) };
    const isChunked = /^transfer-encoding: *chunked/im.test(text);
    const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
    const arrived = this.#unread.length - end - HEADER_END.length;
    this.#missing = isChunked ? Number.POSITIVE_INFINITY : length - arrived;
  }
}
