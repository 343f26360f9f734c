import { randomBytes } from "node:crypto";
import { onCleanup } from "../cleanup.ts";
import { until } from "../until.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A price in the provider's catalogue. The amount is in minor units. */
export interface CataloguePrice {
  readonly amount: number;
  readonly currency: string;
}

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The decoded form, by its field names, for example `line_items[0][price]`. */
  readonly form: Readonly<Record<string, string>>;
}

export type Reaction = (request: ReceivedRequest) => Response | Promise<Response>;

export interface ProviderSession {
  readonly id: string;
  readonly status: "open" | "complete" | "expired";
  readonly [field: string]: unknown;
}

export interface BillingProviderOptions {
  readonly secretKey: string;
  readonly prices: Readonly<Record<string, CataloguePrice>>;
}

const SESSION_LIFE_SECONDS = 86_400;
/** In minor units. */
const AMOUNT_MAX = 99_999_999;

/** An error response of the provider. */
export function errorAnswer(status: number, error: Fields): Response {
  return Response.json({ error }, { status, headers: { "request-id": "req_test" } });
}

export const declined = () =>
  errorAnswer(402, { type: "card_error", message: "Your card was declined." });
export const failing = () => errorAnswer(500, { type: "api_error", message: "Something broke." });

const amountTooLarge = () =>
  errorAnswer(400, {
    type: "invalid_request_error",
    code: "amount_too_large",
    message: "The Checkout Session's total amount must be at most 99,999,999 in minor units.",
  });

const missing = (what: string, id: string, param: string) =>
  errorAnswer(400, {
    type: "invalid_request_error",
    code: "resource_missing",
    param,
    message: `No such ${what}: '${id}'`,
  });

/**
 * The payment provider's checkout API on a local port: form bodies, bearer keys, idempotency keys
 * that replay a response, error objects. It keeps all sessions and customers.
 */
export class BillingProvider {
  readonly received: ReceivedRequest[] = [];
  readonly sessions = new Map<string, ProviderSession>();
  readonly customers = new Set<string>();
  readonly #replays = new Map<string, { form: string; status: number; text: string }>();
  readonly #running = new Set<string>();
  readonly #reactions: Reaction[] = [];
  readonly #server: ReturnType<typeof Bun.serve>;
  #gate: Promise<void> | undefined;

  constructor(private readonly options: BillingProviderOptions) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      fetch: (request) => this.#take(request),
    });
    onCleanup(() => this.stop());
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The requests that asked for a new session. */
  get openings(): ReceivedRequest[] {
    return this.received.filter(({ method }) => method === "POST");
  }

  get lastOpening(): ReceivedRequest {
    return this.openings.at(-1) as ReceivedRequest;
  }

  /** Replaces the responses to the next requests, in order. */
  react(...reactions: Reaction[]): void {
    this.#reactions.push(...reactions);
  }

  /** Holds every new request until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return () => {
      this.#gate = undefined;
      resolve();
    };
  }

  /** Waits until this many requests have been received. */
  async hasReceived(count: number): Promise<void> {
    await until(`the provider has ${count} requests`, () => this.received.length >= count);
  }

  /** Completes the payment. A session without a customer gets a new one. Returns the customer. */
  complete(sessionId: string): string {
    const session = this.#session(sessionId);
    const customer =
      (session["customer"] as string | null) ?? `cus_${randomBytes(8).toString("hex")}`;
    this.customers.add(customer);
    this.sessions.set(sessionId, { ...session, status: "complete", url: null, customer });
    return customer;
  }

  expire(sessionId: string): void {
    this.sessions.set(sessionId, { ...this.#session(sessionId), status: "expired", url: null });
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  #session(id: string): ProviderSession {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Error(`no session ${id}`);
    return session;
  }

  async #take(raw: Request): Promise<Response> {
    const { pathname } = new URL(raw.url);
    const text = await raw.text();
    const form = Object.fromEntries(new URLSearchParams(text));
    const request = { method: raw.method, path: pathname, headers: raw.headers, form };
    this.received.push(request);
    await this.#gate;
    const reaction = this.#reactions.shift();
    if (reaction !== undefined) return await reaction(request);
    if (raw.headers.get("authorization") !== `Bearer ${this.options.secretKey}`) {
      return errorAnswer(401, { type: "invalid_request_error", message: "Invalid API Key" });
    }
    if (raw.method === "GET") return this.#retrieve(pathname);
    if (pathname !== "/v1/checkout/sessions") {
      return errorAnswer(404, { type: "invalid_request_error", message: "Unrecognized URL" });
    }
    return await this.#once(request, text);
  }

  #retrieve(pathname: string): Response {
    const id = pathname.replace("/v1/checkout/sessions/", "");
    const session = this.sessions.get(id);
    if (session !== undefined) return Response.json(session);
    const error = { type: "invalid_request_error", code: "resource_missing", param: "session" };
    return errorAnswer(404, { ...error, message: `No such checkout.session: ${id}` });
  }

  /** An idempotency key has one response and one set of parameters. */
  async #once(request: ReceivedRequest, text: string): Promise<Response> {
    const key = request.headers.get("idempotency-key");
    if (key === null) return this.#open(request.form);
    const type = "idempotency_error";
    if (this.#running.has(key)) {
      return errorAnswer(409, { type, code: "idempotency_key_in_use", message: "Still running." });
    }
    const replay = this.#replays.get(key);
    if (replay !== undefined) {
      if (replay.form !== text) return errorAnswer(400, { type, message: "Other parameters." });
      return new Response(replay.text, { status: replay.status });
    }
    this.#running.add(key);
    const answer = this.#open(request.form);
    const body = await answer.text();
    this.#running.delete(key);
    this.#replays.set(key, { form: text, status: answer.status, text: body });
    return new Response(body, { status: answer.status });
  }

  #open(form: Readonly<Record<string, string>>): Response {
    const customer = form["customer"] ?? null;
    if (customer !== null && !this.customers.has(customer)) {
      return missing("customer", customer, "customer");
    }
    let total = 0;
    let currency = "usd";
    for (let index = 0; `line_items[${index}][price]` in form; index++) {
      const id = form[`line_items[${index}][price]`] as string;
      const price = this.options.prices[id];
      if (price === undefined) return missing("price", id, `line_items[${index}][price]`);
      total += price.amount * Number(form[`line_items[${index}][quantity]`]);
      currency = price.currency;
    }
    if (total > AMOUNT_MAX) return amountTooLarge();
    const id = `cs_test_${randomBytes(12).toString("hex")}`;
    const created = Math.floor(Date.now() / 1_000);
    const session: ProviderSession = {
      id,
      object: "checkout.session",
      status: "open",
      url: `https://checkout.example.com/c/pay/${id}#fragment`,
      mode: form["mode"],
      amount_total: total,
      currency,
      customer,
      client_reference_id: form["client_reference_id"] ?? null,
      created,
      expires_at: created + SESSION_LIFE_SECONDS,
    };
    this.sessions.set(id, session);
    return Response.json(session);
  }
}
