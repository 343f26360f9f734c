import { encoded, type OwnedBytes } from "../../../native/owned-bytes.ts";
import { ANSWER_PIECE_BYTES } from "../../domain/limits.ts";
import { OVERLOADED } from "../../domain/problem/problem.ts";
import type { Log } from "../../ops/observability/log.ts";
import type { Gates } from "./gates.ts";

/** Lets a piece be sent in this turn of the event loop or a later one. Throws, or rejects, when too many wait for that. */
type Start = () => Promise<void> | undefined;

/** The body of an answer that is sent in pieces, as its client takes them. */
class Sending {
  start: Start = () => undefined;
  /** Called with an error of `pieces`, which resets the connection. */
  onFailure = (_error: unknown) => {};
  /** Called when the body has been sent or never will be. */
  onEnd = () => {};
  #hasEnded = false;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: async () => {
        try {
          await this.start();
        } catch {
          return this.giveUp();
        }
        this.#send();
      },
      cancel: () => this.#end(),
    },
    { highWaterMark: 0 },
  );

  /**
   * @param bytes the memory of the rest of the body until it is sent
   * @param free frees it at once, because a collection may come much later
   */
  constructor(
    private readonly pieces: Iterator<Uint8Array>,
    readonly bytes: number,
    readonly free: () => void,
  ) {}

  /** Resets the connection, so that the client does not take the part that has arrived for the whole answer. */
  giveUp(): void {
    if (this.#hasEnded) return;
    this.#controller.error();
    this.#end();
  }

  #send(): void {
    if (this.#hasEnded) return;
    try {
      const { done, value } = this.pieces.next();
      if (done !== true) {
        this.#controller.enqueue(value);
      } else {
        this.#controller.close();
        this.#end();
      }
    } catch (error) {
      this.onFailure(error);
      this.giveUp();
    }
  }

  #end(): void {
    this.#hasEnded = true;
    this.onEnd();
  }
}

type SendingGates = Pick<Gates, "memory" | "starts">;

const sendings = new WeakMap<Response, Sending>();

function* piecesOf(body: Uint8Array<ArrayBuffer>): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += ANSWER_PIECE_BYTES) {
    yield body.subarray(at, at + ANSWER_PIECE_BYTES);
  }
}

/**
 * A response that is sent in pieces: the server would copy a whole body for each client that does not take it.
 *
 * @param bytes the memory of the rest of the body until it is sent
 * @param free frees it
 */
export function responseInPieces(
  pieces: Iterator<Uint8Array>,
  bytes: number,
  init: ResponseInit,
  free = () => {},
): Response {
  const sending = new Sending(pieces, bytes, free);
  const response = new Response(sending.body, init);
  sendings.set(response, sending);
  return response;
}

/**
 * A response with this body, which is sent in pieces if it is large. Bytes are the response's from then on, which
 * frees them; `sharedResponse` is for bytes that others read.
 */
export function responseOf(body: string | OwnedBytes, init: ResponseInit): Response {
  if (body.length <= ANSWER_PIECE_BYTES) {
    const response = new Response(body, init);
    // The response has a copy. Memory that is freed now is still in the caches when the next answer takes it.
    if (typeof body !== "string") body.buffer.transfer(0);
    return response;
  }
  const bytes = typeof body === "string" ? encoded(body) : body;
  return responseInPieces(piecesOf(bytes), bytes.length, init, () => bytes.buffer.transfer(0));
}

/** A response with bytes that other responses have, too: it copies few of them, and reads the others as it is sent. */
export function sharedResponse(body: Uint8Array<ArrayBuffer>, init: ResponseInit): Response {
  if (body.length <= ANSWER_PIECE_BYTES) return new Response(body, init);
  return responseInPieces(piecesOf(body), 0, init);
}

/** The body of a response that this process reads itself. A large one is freed when it ends, so its pieces cannot be kept. */
export async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body ?? []) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

/**
 * Counts a response in the memory of requests until it is sent, if it is large; its bytes are freed then, and each
 * piece starts in a turn of the tenant. An error that ends it early, after its status has been sent, is logged. Throws
 * `overloaded`, and the response cannot be used.
 */
export function holdUntilSent(
  response: Response,
  tenant: string,
  { gates: { memory, starts }, log }: { readonly gates: SendingGates; readonly log: Log },
): void {
  const sending = sendings.get(response);
  if (sending === undefined) return;
  // An answer that is larger than all memory has to be sent as well.
  const bytes = Math.min(sending.bytes, memory.max / 2);
  if (!memory.claim(tenant, sending, bytes)) {
    sending.free();
    throw OVERLOADED;
  }
  sending.start = () => starts.acquire(tenant);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  sending.onFailure = (err) => {
    log.error({ requestId, err }, "an answer ended before it was complete");
  };
  sending.onEnd = () => {
    if (memory.release(tenant, sending)) sending.free();
  };
}
