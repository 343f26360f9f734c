import { onCleanup } from "../../support/cleanup.ts";

/** A span as a collector receives it. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number };
}

/** A collector that keeps what it receives over OTLP/HTTP. */
export class Collector {
  readonly spans: OtlpSpan[] = [];
  readonly resources: Array<Readonly<Record<string, unknown>>> = [];
  readonly requests: Array<{ path: string; type: string | null; headers: Headers; body: string }> =
    [];
  readonly #server = Bun.serve({ port: 0, fetch: (request) => this.#receive(request) });

  /** @param answers whether exports are answered */
  constructor(private readonly answers = true) {
    onCleanup(() => this.#server.stop(true));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #receive(request: Request): Promise<Response> {
    const { pathname: path } = new URL(request.url);
    const { headers } = request;
    const type = headers.get("content-type");
    const body = await request.bytes();
    this.requests.push({ path, type, headers, body: Buffer.from(body).toString("latin1") });
    // The numbers are those of opentelemetry/proto/trace/v1/trace.proto.
    for (const resourceSpans of new Message(body).messages(1)) {
      this.resources.push(...resourceSpans.messages(1).map((resource) => resource.attributes(1)));
      const scopeSpans = resourceSpans.messages(2);
      this.spans.push(...scopeSpans.flatMap((scope) => scope.messages(2)).map(spanOf));
    }
    if (!this.answers) await new Promise(() => {});
    return new Response();
  }
}

function spanOf(span: Message): OtlpSpan {
  const [status] = span.messages(15);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: Number(span.number(6)),
    startTimeUnixNano: span.number(7),
    endTimeUnixNano: span.number(8),
    attributes: span.attributes(9),
    status: { code: Number(status?.number(3) ?? 0) },
  };
}

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;

/** A message of Protocol Buffers. Absent fields are empty, or zero. */
class Message {
  readonly #fields: Array<{ number: number; value: bigint | Buffer }> = [];
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
    while (this.#at < this.#bytes.length) {
      const key = Number(this.#varint());
      this.#fields.push({ number: key >> 3, value: this.#value(key & 7) });
    }
  }

  messages(number: number): Message[] {
    const found = this.#fields.filter((field) => field.number === number);
    return found.map(({ value }) => new Message(value as Buffer));
  }

  number(number: number): bigint {
    return (this.#find(number) as bigint | undefined) ?? 0n;
  }

  text(number: number): string {
    return (this.#find(number) as Buffer | undefined)?.toString() ?? "";
  }

  hex(number: number): string {
    return (this.#find(number) as Buffer | undefined)?.toString("hex") ?? "";
  }

  /** Texts and whole numbers by their names. */
  attributes(number: number): Record<string, unknown> {
    const pairs = this.messages(number).flatMap((attribute) =>
      attribute.messages(2).map((value) => {
        const isText = value.#find(1) !== undefined;
        return [attribute.text(1), isText ? value.text(1) : Number(value.number(3))];
      }),
    );
    return Object.fromEntries(pairs);
  }

  #find(number: number): bigint | Buffer | undefined {
    return this.#fields.find((field) => field.number === number)?.value;
  }

  #value(type: number): bigint | Buffer {
    if (type === VARINT) return this.#varint();
    const length = type === BYTES ? Number(this.#varint()) : type === FIXED_64 ? 8 : 4;
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return type === FIXED_64 ? bytes.readBigUInt64LE() : bytes;
  }

  #varint(): bigint {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes[this.#at++] as number;
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) return number;
    }
  }
}
