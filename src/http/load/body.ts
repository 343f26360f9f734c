import { isUtf8 } from "node:buffer";
import type { TSchema } from "@sinclair/typebox";
import { bodyOf, joined, type OwnedBytes } from "../../../native/owned-bytes.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import type { FieldError } from "../../problem/schema.ts";
import { faultyFields } from "../../problem/unstorable.ts";
import { decompressed, type Encoding } from "../../shared/compression/decompressed.ts";
import { keepOpaqueNumbers } from "../../shared/json/opaque.ts";
import {
  BODIES_MAX_BYTES,
  BODY_MIN_BYTES,
  BODY_READ_TIMEOUT_MS,
  GATE_WAITING_MAX,
  LARGE_BODY_BYTES,
  PROBLEM_MAX_FIELD_ERRORS,
} from "../../shared/limits.ts";
import { TenantGate } from "../../tenants/tenant-gate.ts";
import { TenantLedger } from "../../tenants/tenant-ledger.ts";
import { TenantTurns } from "../../tenants/tenant-turns.ts";
import { encodingOf } from "./content-encoding.ts";

/**
 * After a large body, its tenant waits for this multiple of the time that the body took, which leaves four fifths
 * of the time to others, and to indexes for what it has written.
 */
const LARGE_BODY_PAUSE_FACTOR = 4;
/** But no longer than this: a client that sends one after the other on a busy machine is to be answered. */
const LARGE_BODY_PAUSE_MAX_MS = 3_000;
/** Nor where no other tenant has sent a body for so long: there is nobody to leave the time to. */
const ALONE_AFTER_MS = 1_000;
/** A large body that has arrived waits no longer for its turn. */
const LARGE_BODY_WAIT_MAX_MS = 2_000;
/** Bodies from this length on are taken up in a bounded number of each turn of the event loop: a millisecond of parsing. */
const LONG_BODY_BYTES = 8_192;
/** How many these are; one tenant alone has half of them. */
const TURN_LONG_BODIES_MAX = 2;

/** The media type of a Content-Type header, lower-cased and without parameters; "" when absent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

/** True for application/json and every `+json` type. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || /^application\/[\w.!#$&^-]+\+json$/.test(type);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a JSON body. Throws `validation-failed`, which names the fields that are not UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid(fieldsInOtherEncodings(bytes), "The body is not UTF-8.");
  }
}

/** The fields of a JSON body whose bytes are not UTF-8; the body itself if it is not JSON either. */
function fieldsInOtherEncodings(bytes: Uint8Array): FieldError[] {
  // One character a byte. Escapes are no such bytes, so they become any other character.
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/\\u[0-9a-f]{4}/gi, "??????");
  const message = "is not valid UTF-8";
  try {
    const fields = faultyFields(JSON.parse(text), (part) =>
      isUtf8(Buffer.from(part, "latin1")) ? undefined : message,
    );
    return fields.slice(0, PROBLEM_MAX_FIELD_ERRORS);
  } catch {
    return [{ field: "body", message }];
  }
}

/**
 * Parses a JSON body of a schema, in whose opaque members numbers stay as they are written. Throws
 * `validation-failed` without repeating the body unless it is JSON in UTF-8.
 */
export function parseBody(bytes: Uint8Array, schema: TSchema): unknown {
  const text = textOf(bytes);
  try {
    const value: unknown = JSON.parse(text);
    keepOpaqueNumbers(schema, text, value);
    return value;
  } catch {
    const message = bytes.byteLength === 0 ? "is required" : "is not valid JSON";
    throw invalid([{ field: "body", message }], `The body ${message}.`);
  }
}

/** A body that is being read. */
interface Reading {
  readonly tenant: string;
  readonly refuse: (problem: Problem) => void;
  /** What it counts with. */
  bytes: number;
  isOver: boolean;
}

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { connection: "close" };

const refusal = (slug: "overloaded" | "request-timeout") => new Problem(slug, { headers: CLOSE });

const tooLarge = (maxBytes: number) =>
  new Problem("payload-too-large", { detail: `The body must have at most ${maxBytes} bytes.` });

const waited = () =>
  new Problem("overloaded", {
    detail: "Other large bodies of this user are taken up first. Send one after the other.",
  });

/** The meaning of a failed read: the caller has gone away, so this only describes the log line. */
const unreadable = (cause: unknown) =>
  new Problem("validation-failed", { detail: "The body could not be read.", cause });

/** What is wrong with a body that cannot be decompressed. */
const damaged = (encoding: Encoding, cause: unknown) =>
  new Problem("validation-failed", {
    ...{ detail: `The body is not valid ${encoding}.`, cause },
    errors: [{ field: "body", message: `is not valid ${encoding}` }],
  });

/** What follows when a body has been read. */
export interface Uptake {
  /** Whether this thread parses the body; true by default. */
  isParsedHere?(bytes: Uint8Array): boolean;
  /** Waits for what is bounded otherwise than parsing on this thread, with a body of this length. */
  admit?(bytes: number): Promise<void>;
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
 * Reads request bodies within a time limit and a budget of bytes. A body counts with its declared
 * length until it has been read. When the budget is used up, the caller who holds most of it
 * pays: its new bodies are refused, or its oldest unfinished ones when another caller needs the
 * space. So nobody keeps others from being read by sending bodies slowly or never.
 *
 * Each tenant has one large body at a time taken up, with a pause behind it, and the others count until it is
 * their turn: parsing and checking a megabyte takes the main thread tens of milliseconds, in which nobody is
 * answered. Of bodies that take it a millisecond, as filters of a thousand values do, each tenant has one taken up in a
 * turn of the event loop.
 */
export class BodyIntake {
  readonly #others = new LastOthers();
  readonly #shares: TenantLedger<Reading>;
  readonly #large = new TenantTurns({
    ...{ waitMaxMs: LARGE_BODY_WAIT_MAX_MS, restFactor: LARGE_BODY_PAUSE_FACTOR },
    restMaxMs: LARGE_BODY_PAUSE_MAX_MS,
    isAlone: (tenant) => performance.now() - this.#others.lastBeside(tenant) > ALONE_AFTER_MS,
  });
  readonly #long = new TenantGate({
    ...{ places: TURN_LONG_BODIES_MAX, maxWaiting: GATE_WAITING_MAX, freeAfterMs: 0 },
  });

  constructor(
    maxBytes = BODIES_MAX_BYTES,
    private readonly timeoutMs = BODY_READ_TIMEOUT_MS,
  ) {
    this.#shares = new TenantLedger(maxBytes, (_, oldest) => oldest.refuse(refusal("overloaded")));
  }

  /** Bytes that the bodies being read may take. */
  get bytes(): number {
    return this.#shares.total;
  }

  /**
   * Reads a whole body for a tenant, who shares the budget with others, and decompresses it. Throws
   * `payload-too-large` for more than `maxBytes` after that: before reading when a longer one is declared, else as
   * soon as too much has arrived. Throws `unsupported-media-type` for an unknown content encoding. Throws `request-timeout` when the body does not arrive in time, and `overloaded`. The caller
   * takes the body up at once.
   */
  async read(
    request: Request,
    maxBytes: number,
    tenant: string,
    uptake: Uptake = {},
  ): Promise<OwnedBytes> {
    const encoding = encodingOf(request);
    const declared = request.headers.get("content-length");
    if (declared === null && request.body === null) return joined([]);
    this.#others.note(tenant);
    const length = declared === null ? 0 : Number(declared);
    if (length > maxBytes) throw tooLarge(maxBytes);
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const end = () => {
      reading.isOver = true;
      this.#shares.release(tenant, reading);
    };
    const refuse = (problem: Problem) => {
      end();
      reject(problem);
    };
    const reading: Reading = { tenant, refuse, bytes: 0, isOver: false };
    this.#reserve(reading, Math.max(length, BODY_MIN_BYTES));
    const timer = setTimeout(() => refuse(refusal("request-timeout")), this.timeoutMs);
    try {
      const bytes = await Promise.race([
        refused,
        this.#receive(request, encoding, maxBytes, reading),
      ]);
      clearTimeout(timer);
      const admitted = this.#admit(tenant, bytes, uptake);
      if (admitted === undefined) return bytes;
      await Promise.race([refused, admitted]);
      // Who has left while it waited needs nothing any more.
      if (request.signal.aborted) throw unreadable("the client has gone");
      return bytes;
    } catch (error) {
      throw error instanceof Problem ? error : unreadable(error);
    } finally {
      clearTimeout(timer);
      end();
    }
  }

  /** Resolves when a body of the tenant may be taken up; undefined for one that may be at once. */
  #admit(tenant: string, bytes: Uint8Array, uptake: Uptake): Promise<void> | undefined {
    const length = bytes.byteLength;
    if (uptake.admit !== undefined) return uptake.admit(length);
    if (length >= LARGE_BODY_BYTES) return this.#turn(tenant);
    const isLong = length >= LONG_BODY_BYTES && (uptake.isParsedHere?.(bytes) ?? true);
    return isLong ? this.#long.enter(tenant) : undefined;
  }

  /** Resolves when a large body of the tenant may be taken up, in the turn of the event loop that follows. */
  async #turn(tenant: string): Promise<void> {
    const end = await this.#large.take(tenant);
    if (end === undefined) throw waited();
    setImmediate(end);
  }

  /** The whole body, decompressed. Unless its length is declared, it counts with what has arrived of it. */
  async #receive(
    request: Request,
    encoding: Encoding,
    maxBytes: number,
    reading: Reading,
  ): Promise<OwnedBytes> {
    if (encoding === "identity" && request.headers.has("content-length")) return bodyOf(request);
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of piecesOf(request, encoding)) {
      length += part.byteLength;
      if (length > maxBytes) throw tooLarge(maxBytes);
      // A reading that was refused meanwhile is no longer counted, and nobody waits for it.
      if (reading.isOver) throw refusal("overloaded");
      if (length > reading.bytes) this.#reserve(reading, length - reading.bytes);
      parts.push(part);
    }
    return joined(parts);
  }

  /** Counts more bytes for a reading. Throws `overloaded` when its tenant already has the largest share. */
  #reserve(reading: Reading, bytes: number): void {
    if (!this.#shares.claim(reading.tenant, reading, bytes)) throw refusal("overloaded");
    reading.bytes += bytes;
  }
}
