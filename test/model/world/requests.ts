import type { Caller } from "../../../support/api/api.ts";
import type { Json } from "../../../support/api/openapi.ts";
import type { World } from "./world.ts";

/** Longer than the service lets anybody wait, and than any fault lasts, on a busy machine. */
const TIMEOUT_MS = 120_000;
/** What is promised must hold this long after the last fault could be felt, on a busy machine. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 40;

export interface Sending {
  readonly as?: Caller;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long it waits for the answer; TIMEOUT_MS by default. */
  readonly timeoutMs?: number;
}

/**
 * - answer: the operation has answered
 * - refused: the service has answered 503, or was not there. Deliveries and answers had no effect then
 * - lost: there was no answer, so the request may have had its effect, or have it later
 */
export type Reply =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body: Json;
      readonly headers: Headers;
    }
  | { readonly kind: "refused"; readonly body: Json }
  | { readonly kind: "lost"; readonly cause: string };

const REFUSALS = ["overloaded", "dependency-unavailable"];

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Counts what happened. */
export class Tally {
  /** Requests and imports. */
  operations = 0;
  readonly tables = { commands: new Map<string, number>(), replies: new Map<string, number>() };

  command(name: string): void {
    add(this.tables.commands, name);
  }

  reply(name: string): void {
    this.operations++;
    add(this.tables.replies, name);
  }
}

/** A client of both services. It checks every answer against the OpenAPI document. */
export class Requests {
  /** The last exchange, for messages. */
  #last = "";

  constructor(
    private readonly world: World,
    readonly tally: Tally,
  ) {}

  async send(at: number, method: string, path: string, sending: Sending = {}): Promise<Reply> {
    const wasCalm = this.world.calmMs > 0;
    const reply = await this.#exchange(at, method, path, sending);
    this.tally.reply(reply.kind === "answer" ? String(reply.status) : reply.kind);
    this.#last = `${method} ${path}: ${JSON.stringify(reply)}`;
    if (reply.kind === "lost" && wasCalm && this.world.calmMs > 0) {
      throw new Error(
        `${method} ${path} got no answer although there was no fault: ${reply.cause}`,
      );
    }
    return reply;
  }

  async #exchange(at: number, method: string, path: string, sending: Sending): Promise<Reply> {
    const { as, json, body, headers, timeoutMs = TIMEOUT_MS } = sending;
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${this.world.service(at).url}${path}`, {
        method,
        headers: {
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...as?.headers,
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(timeoutMs),
        // On a connection that was used before, a request whose answer is lost would be sent again in silence.
        keepalive: false,
      });
      text = await response.text();
    } catch (error) {
      const isAbsent = (error as { code?: string }).code === "ECONNREFUSED";
      return isAbsent ? { kind: "refused", body: {} } : { kind: "lost", cause: String(error) };
    }
    const { status } = response;
    const mayLackDatabase = this.world.calmMs <= 0;
    const exchange = { method, path, status, text, headers: response.headers, mayLackDatabase };
    this.world.contract.check(exchange);
    const parsed = text === "" ? undefined : JSON.parse(text);
    if (parsed?.slug === "internal-error") throw new Error(`${method} ${path} answered ${text}`);
    if (status === 503 && REFUSALS.includes(parsed?.slug)) return { kind: "refused", body: parsed };
    return { kind: "answer", status, body: parsed, headers: response.headers };
  }

  /** Repeats an attempt until it has a result. Faults are waited for; afterwards it has to succeed. */
  async eventually<T>(
    what: string | (() => string),
    attempt: () => Promise<T | undefined>,
  ): Promise<T> {
    const startedAt = Date.now();
    for (;;) {
      const result = await attempt();
      if (result !== undefined) return result;
      const waitedMs = Math.min(Date.now() - startedAt, this.world.calmMs);
      if (waitedMs > PATIENCE_MS) {
        const description = typeof what === "string" ? what : what();
        throw new Error(`not within ${PATIENCE_MS} ms: ${description}\nlast: ${this.#last}`);
      }
      await Bun.sleep(RETRY_MS);
    }
  }

  /** Sends a request that may be repeated until it is answered. */
  answered(at: number, method: string, path: string, sending: Sending = {}) {
    return this.eventually(`${method} ${path}`, async () => {
      const reply = await this.send(at, method, path, sending);
      return reply.kind === "answer" ? reply : undefined;
    });
  }
}
