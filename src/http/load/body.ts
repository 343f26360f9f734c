import { bodyOf, joined, type OwnedBytes } from "../../../native/owned-bytes.ts";
import {
  BODY_MIN_BYTES,
  BODY_READ_TIMEOUT_MS,
  LARGE_BODY_BYTES,
  TURN_STARTS_MAX,
} from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { COMPRESSIONS, decompressed, type Encoding } from "../../ops/compression/decompressed.ts";
import { FairSemaphore, SERIAL } from "../../ops/tenants/fair-semaphore.ts";
import type { Gates } from "./gates.ts";

/**
 * After a large body, its tenant waits for this multiple of the time that the body took, which leaves four fifths
 * of the time to other tenants, and to the index of its own writes.
 */
const LARGE_BODY_PAUSE_FACTOR = 4;
/** The longest pause: a client that sends one body after the other on a busy machine gets its answers. */
const LARGE_BODY_PAUSE_MAX_MS = 3_000;
/** Skip the pause if no other tenant has sent a body for this long. */
const ALONE_AFTER_MS = 1_000;
/** The longest wait of a large body that has arrived. */
const LARGE_BODY_WAIT_MAX_MS = 2_000;
/** Bodies from this length on take a millisecond to parse. */
const LONG_BODY_BYTES = 8_192;
/** The starts that one of them counts for: two are parsed in a turn of the event loop, and one of a tenant alone. */
const LONG_BODY_STARTS = TURN_STARTS_MAX / 2;

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ...["", "identity"].map((name) => [name, "identity"] as const),
  ...COMPRESSIONS.map((name) => [name, name] as const),
  ["x-gzip", "gzip"],
]);

/** How the body of a request is compressed. Throws `unsupported-media-type` for an unknown encoding. */
export function encodingOf({ headers }: Request): Encoding {
  const name = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const encoding = ENCODINGS.get(name);
  if (encoding !== undefined) return encoding;
  const accepted = [...COMPRESSIONS, "identity"].join(", ");
  throw new Problem("unsupported-media-type", {
    detail: `The body must have one of these content encodings: ${accepted}.`,
    headers: { "accept-encoding": accepted },
  });
}

/** A body that is being read. */
interface Reading {
  readonly tenant: string;
  readonly giveUp: () => void;
  /** The bytes that it counts for. */
  bytes: number;
  isOver: boolean;
}

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { connection: "close" };

const refusal = (slug: "overloaded" | "request-timeout") => new Problem(slug, { headers: CLOSE });

const tooLarge = (maxBytes: number, { tooLargeRemedy: remedy = "" }: ParseAdmission) => {
  const detail = `The body must have at most ${maxBytes} bytes. ${remedy}`;
  return new Problem("payload-too-large", { detail: detail.trimEnd() });
};

const WAITED = new Problem("overloaded", {
  detail: "Other large bodies of this user are parsed first. Send one after the other.",
});

/** The meaning of a failed read: the caller has gone away, so this only describes the log line. */
const unreadable = (cause: unknown) =>
  new Problem("validation-failed", { detail: "The body could not be read.", cause });

/** The problem of a body that cannot be decompressed. */
const damaged = (encoding: Encoding, cause: unknown) =>
  new Problem("validation-failed", {
    detail: `The body is not valid ${encoding}.`,
    cause,
    errors: [{ field: "body", message: `is not valid ${encoding}` }],
  });

/** The steps between reading a body and handling it. */
export interface ParseAdmission {
  /** Whether this thread parses the body; true by default. */
  readonly isParsedHere?: ((bytes: Uint8Array) => boolean) | undefined;
  /** Waits for the operation's own bound with a body of `bytes` bytes, in place of the bound of parsing. */
  readonly admit?: ((bytes: number) => Promise<void>) | undefined;
  /** The remedy for a body that is too large, in one sentence. */
  readonly tooLargeRemedy?: string | undefined;
}

/** A body in decompressed pieces. Throws `validation-failed` for one that is damaged. */
async function* piecesOf(request: Request, encoding: Encoding): AsyncGenerator<Uint8Array> {
  try {
    yield* decompressed(encoding, request.body as unknown as AsyncIterable<Uint8Array>);
  } catch (cause) {
    throw encoding === "identity" || request.signal.aborted ? cause : damaged(encoding, cause);
  }
}

/** When somebody else than a tenant has sent a body last, on the clock of `performance.now()`. */
class LastOthers {
  #last = { tenant: "", at: Number.NEGATIVE_INFINITY };
  /** The last one that another tenant than that of `#last` has sent. */
  #before = this.#last;

  note(tenant: string): void {
    if (tenant !== this.#last.tenant) this.#before = this.#last;
    this.#last = { tenant, at: performance.now() };
  }

  lastBeside(tenant: string): number {
    return (tenant === this.#last.tenant ? this.#before : this.#last).at;
  }
}

/**
 * Reads request bodies within a time limit and the memory of requests. A body counts with its declared
 * length until it has been read. When the memory is used up, the caller who holds most of it
 * pays: its new bodies are refused, or its oldest unfinished ones when another caller needs the
 * space. So nobody keeps others from being read by sending bodies slowly or never.
 *
 * Each tenant has one large body at a time parsed, with a pause behind it, and the others count until it is
 * their turn: parsing and checking a megabyte takes the main thread tens of milliseconds, in which nobody is
 * answered. Of bodies that take it a millisecond, as filters of a thousand values do, each tenant has one parsed in a
 * turn of the event loop.
 */
export class BodyReader {
  readonly #others = new LastOthers();
  readonly #large = new FairSemaphore({
    ...SERIAL,
    waitMaxMs: LARGE_BODY_WAIT_MAX_MS,
    late: WAITED,
    restMs: (tenant, tookMs) => {
      const isAlone = performance.now() - this.#others.lastBeside(tenant) > ALONE_AFTER_MS;
      return isAlone ? 0 : Math.min(LARGE_BODY_PAUSE_FACTOR * tookMs, LARGE_BODY_PAUSE_MAX_MS);
    },
  });

  constructor(
    private readonly gates: Pick<Gates, "memory" | "starts">,
    private readonly timeoutMs = BODY_READ_TIMEOUT_MS,
  ) {}

  /**
   * Reads a whole body for a tenant, who shares the budget with others, and decompresses it. Throws
   * `payload-too-large` for more than `maxBytes` after that: before reading when a longer one is declared, else as
   * soon as too much has arrived. Throws `unsupported-media-type` for an unknown content encoding. Throws `request-timeout` when the body does not arrive in time, and `overloaded`. The caller
   * parses the body at once.
   */
  async read(
    request: Request,
    maxBytes: number,
    tenant: string,
    admission: ParseAdmission = {},
  ): Promise<OwnedBytes> {
    const encoding = encodingOf(request);
    const declared = request.headers.get("content-length");
    if (declared === null && request.body === null) return joined([]);
    this.#others.note(tenant);
    const length = declared === null ? 0 : Number(declared);
    if (length > maxBytes) throw tooLarge(maxBytes, admission);
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const end = () => {
      reading.isOver = true;
      this.gates.memory.release(tenant, reading);
    };
    const refuse = (problem: Problem) => {
      end();
      reject(problem);
    };
    const giveUp = () => refuse(refusal("overloaded"));
    const reading: Reading = { tenant, giveUp, bytes: 0, isOver: false };
    this.#reserve(reading, Math.max(length, BODY_MIN_BYTES));
    const timer = setTimeout(() => refuse(refusal("request-timeout")), this.timeoutMs);
    try {
      const bytes = await Promise.race([
        refused,
        this.#receive(request, encoding, maxBytes, reading, admission),
      ]);
      clearTimeout(timer);
      const admitted = this.#admit(tenant, bytes, admission);
      if (admitted === undefined) return bytes;
      await Promise.race([refused, admitted]);
      // The client disconnected while waiting.
      if (request.signal.aborted) throw unreadable("the client has gone");
      return bytes;
    } catch (error) {
      throw error instanceof Problem ? error : unreadable(error);
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  /** Resolves when a body of the tenant may be parsed; undefined for one that may be at once. */
  #admit(tenant: string, bytes: Uint8Array, admission: ParseAdmission): Promise<void> | undefined {
    const length = bytes.byteLength;
    if (admission.admit !== undefined) return admission.admit(length);
    if (length >= LARGE_BODY_BYTES) return this.#turn(tenant);
    const isLong = length >= LONG_BODY_BYTES && (admission.isParsedHere?.(bytes) ?? true);
    return isLong ? this.gates.starts.acquire(tenant, LONG_BODY_STARTS) : undefined;
  }

  /** Resolves when a large body of the tenant may be parsed, in the turn of the event loop that follows. */
  async #turn(tenant: string): Promise<void> {
    setImmediate(await this.#large.lease(tenant));
  }

  /** The whole body, decompressed. Unless its length is declared, it counts for the bytes that have arrived. */
  async #receive(
    request: Request,
    encoding: Encoding,
    maxBytes: number,
    reading: Reading,
    admission: ParseAdmission,
  ): Promise<OwnedBytes> {
    if (encoding === "identity" && request.headers.has("content-length")) return bodyOf(request);
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of piecesOf(request, encoding)) {
      length += part.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes, admission);
      // A reading that was refused meanwhile does not count, and its caller has an answer.
      if (reading.isOver) throw refusal("overloaded");
      if (length > reading.bytes) this.#reserve(reading, length - reading.bytes);
      parts.push(part);
    }
    return joined(parts);
  }

  /** Counts more bytes for a reading. Throws `overloaded` when its tenant already has the largest share. */
  #reserve(reading: Reading, bytes: number): void {
    if (!this.gates.memory.claim(reading.tenant, reading, bytes)) throw refusal("overloaded");
    reading.bytes += bytes;
  }
}
