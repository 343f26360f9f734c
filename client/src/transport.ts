import { bodyOf, errorOf, TesseraError } from "./problem.ts";

export interface TesseraOptions {
  /** The address of the service, such as `https://search.example.com`. */
  readonly baseUrl: string;
  /** An API key, or a function that returns a JWT for each request. */
  readonly credential: string | (() => string | Promise<string>);
  /** How often a request is repeated at most. Default: 3. */
  readonly retries?: number;
  /** Milliseconds that one request and its answer may take; 0 for no bound. Default: 60,000, and 0 for imports. */
  readonly timeoutMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  /** Ends the call, also while it waits for a retry. */
  readonly signal?: AbortSignal;
  /** In place of that of the client: milliseconds that each request of the call may take. */
  readonly timeoutMs?: number;
  /** For a read: the `change` of a client, which the answer has to have. It is waited for, some seconds at most. */
  readonly minChange?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Call extends CallOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The segments of the path, not encoded. */
  readonly path: readonly string[];
  readonly query?: Query;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with the headers of the answer. */
  readonly seen?: (headers: Headers) => void;
  /** True when a repetition changes nothing, so that a lost answer can be asked for again. */
  readonly repeatable: boolean;
}

/** Names a project to balancers, so that its requests reach the node that has it in memory. */
const ROUTING_KEY = "x-routing-key";
const RETRIES_DEFAULT = 3;
const TIMEOUT_MS_DEFAULT = 60_000;
const BACKOFF_MS = 200;
const BACKOFF_MAX_MS = 5_000;
/** A service that asks for a longer wait leaves the retry to the caller. */
const RETRY_AFTER_MAX_MS = 60_000;

function addressOf(baseUrl: string, path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams();
  for (const [name, value] of given) search.set(name, String(value));
  // Every encoding of these would be taken for a step, and lead to another operation.
  if (path.some((segment) => segment === "." || segment === "..")) {
    throw new RangeError("a name in an address must be neither . nor ..");
  }
  const address = `${baseUrl.replace(/\/+$/, "")}/${path.map(encodeURIComponent).join("/")}`;
  return given.length === 0 ? address : `${address}?${search}`;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Whether a failed call may be sent again: a lost answer only if a repetition changes nothing. */
function mayRepeat(error: unknown, { repeatable, body, signal }: Call): boolean {
  if (signal?.aborted || body instanceof ReadableStream) return false;
  if (!(error instanceof TesseraError)) return repeatable && isLost(error);
  return error.isRetryable || (repeatable && error.status === 503);
}

/** Whether no answer came: the connection was lost, or the answer took too long. */
function isLost(error: unknown): boolean {
  return error instanceof TypeError || (error as Error | null)?.name === "TimeoutError";
}

/** Ends a request for its caller, or when its time is over; undefined if nothing does. */
function signalOf({ signal }: Call, timeoutMs: number): AbortSignal | undefined {
  if (!(timeoutMs > 0)) return signal;
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** Sends calls and repeats those that may succeed later. */
export class Transport {
  /** The routing keys of projects by the names that calls used for them. */
  readonly #routingKeys = new Map<string, string>();

  /** The token of the last change that was answered. */
  change: string | undefined;

  constructor(private readonly options: TesseraOptions) {}

  /** The body of a successful answer; undefined when there is none. */
  async send<T>(call: Call): Promise<T> {
    const retries = this.options.retries ?? RETRIES_DEFAULT;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#sendOnce<T>(call);
      } catch (error) {
        if (attempt >= retries || !mayRepeat(error, call)) throw error;
        const wanted = error instanceof TesseraError ? error.retryAfterMs : undefined;
        if (wanted !== undefined && wanted > RETRY_AFTER_MAX_MS) throw error;
        const backoff = Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MAX_MS);
        // Half of the wait is random, so that clients do not come back at the same time.
        const own = backoff * (0.5 + Math.random() / 2);
        await pause(Math.max(wanted ?? 0, own), call.signal);
      }
    }
  }

  async #sendOnce<T>(call: Call): Promise<T> {
    const { method, path, json, body, headers, minChange } = call;
    const query = { ...call.query, min_change: minChange };
    const { baseUrl, credential, fetch = globalThis.fetch } = this.options;
    const { timeoutMs = this.options.timeoutMs ?? TIMEOUT_MS_DEFAULT } = call;
    const signal = signalOf(call, timeoutMs);
    const token = typeof credential === "string" ? credential : await credential();
    const content = json === undefined ? body : JSON.stringify(json);
    const project = path[0] === "projects" ? path[1] : undefined;
    const known = project === undefined ? undefined : this.#routingKeys.get(project);
    const init = {
      method,
      // Another address gets neither the credential nor the content.
      redirect: "manual",
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(known === undefined ? {} : { [ROUTING_KEY]: known }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
      ...(signal === undefined ? {} : { signal }),
      // Node.js and browsers want to be told that the answer comes after the whole body.
      ...(content instanceof ReadableStream ? { duplex: "half" } : {}),
    };
    const response = await fetch(addressOf(baseUrl, path, query), init as RequestInit);
    if (!response.ok) throw await errorOf(response);
    call.seen?.(response.headers);
    const key = response.headers.get(ROUTING_KEY);
    if (project !== undefined && key !== null) this.#routingKeys.set(project, key);
    this.change = response.headers.get("x-change") ?? this.change;
    return (await bodyOf(response)) as T;
  }
}
