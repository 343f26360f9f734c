import type { components } from "../../../../client/src/types.ts";
import { session } from "./session.ts";

/** The schemas of the API by name. */
export type Schemas = components["schemas"];

/** The address of the service: the files of the console are one level below it. */
export const SERVICE = new URL("..", import.meta.url);

const UNAUTHORIZED = 401;
const UNAVAILABLE = 503;
/** Maximum repetitions of a read that the service refuses as overloaded, unless it asks for a longer wait. */
const REPEATS_MAX = 3;
const REPEAT_AFTER_MAX_SECONDS = 5;

/** A problem document, as an error. */
export class ProblemError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Partial<Schemas["Problem"]> | undefined,
  ) {
    const detail = problem?.detail ?? `The service answered ${status}.`;
    const further = (problem?.errors ?? []).filter(({ message }) => !detail.includes(message));
    super([detail, ...further.map(({ field, message }) => `${field} ${message}`)].join(" "));
  }
}

interface CallOptions {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** True for a request without effects; by default for GET. */
  readonly isRead?: boolean;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, with its type. */
  readonly text?: { readonly type: string; readonly body: string };
  /** Absent values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another credential than that of the tab. */
  readonly credential?: string;
  readonly signal?: AbortSignal | undefined;
}

interface Answer<T> {
  readonly body: T;
  readonly headers: Headers;
  /** Time from the request to the whole answer, measured in this tab. */
  readonly ms: number;
}

function addressOf(path: string, query: CallOptions["query"] = {}): URL {
  const url = new URL(path, SERVICE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Called when the service refuses the credential of the tab. */
let refused: () => void = () => {};

export function onRefusedCredential(listener: () => void): void {
  refused = listener;
}

/** Requests without an answer. Their number is an attribute of the document, so that tests can wait for 0. */
let unanswered = 0;

function countUnanswered(change: number): void {
  unanswered += change;
  document.documentElement.dataset["requests"] = String(unanswered);
}

countUnanswered(0);

/**
 * Sends a request with the credential of the tab. `path` is relative to the service, or a link of an
 * answer. Throws a ProblemError.
 */
export async function call<T>(path: string, options: CallOptions = {}): Promise<Answer<T>> {
  countUnanswered(1);
  try {
    return await send<T>(path, options);
  } finally {
    countUnanswered(-1);
  }
}

/** Repeats a read while the service asks for it. */
async function whenAvailable(
  { method = "GET", isRead = method === "GET", signal }: CallOptions,
  request: () => Promise<Response>,
): Promise<Response> {
  for (let repeats = 0; ; repeats++) {
    const response = await request();
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const isBusy = response.status === UNAVAILABLE && seconds <= REPEAT_AFTER_MAX_SECONDS;
    if (!isRead || !isBusy || repeats === REPEATS_MAX) return response;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    signal?.throwIfAborted();
  }
}

async function send<T>(path: string, options: CallOptions): Promise<Answer<T>> {
  const { method = "GET", json, text, query, headers, credential, signal } = options;
  const content =
    json === undefined ? text : { type: "application/json", body: JSON.stringify(json) };
  const startedAt = performance.now();
  const response = await whenAvailable(options, () =>
    fetch(addressOf(path, query), {
      method,
      credentials: "omit",
      cache: "no-store",
      headers: {
        authorization: `Bearer ${credential ?? session.credential}`,
        ...(content === undefined ? {} : { "content-type": content.type }),
        ...headers,
      },
      body: content?.body ?? null,
      signal: signal ?? null,
    }),
  );
  const answer = await response.text();
  const ms = performance.now() - startedAt;
  const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "");
  const body = isJson && answer !== "" ? JSON.parse(answer) : answer;
  if (!response.ok) {
    if (response.status === UNAUTHORIZED && credential === undefined) refused();
    throw new ProblemError(response.status, isJson ? body : undefined);
  }
  return { body, headers: response.headers, ms };
}

/** The path of a project, or of a resource below it. Throws for `.` and `..`, which a URL resolves. */
export function projectPath(...parts: string[]): string {
  if (parts.includes(".") || parts.includes("..")) {
    throw new Error("The names . and .. have no address of their own.");
  }
  return ["projects", ...parts.map(encodeURIComponent)].join("/");
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly page_info: { readonly next: string | null };
}

/** Maximum items that the console lists. The command line lists more. */
const LISTED_MAX = 1_000;
const PAGE_LIMIT = 100;
const FORBIDDEN = 403;

/** The items of a list, page after page, at most `most`. */
export async function listAll<T>(
  path: string,
  { most = LISTED_MAX, query, ...options }: CallOptions & { most?: number } = {},
): Promise<T[]> {
  const first = { query: { ...query, limit: PAGE_LIMIT }, ...options };
  let page: Page<T> = (await call<Page<T>>(path, first)).body;
  const items = [...page.data];
  while (page.page_info.next !== null && items.length < most) {
    page = (await call<Page<T>>(page.page_info.next, { signal: options.signal })).body;
    items.push(...page.data);
  }
  return items.slice(0, most);
}

/** The list; empty if the credential may not read it. The service still refuses requests without rights. */
export async function listIfAllowed<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  try {
    return await listAll<T>(path, { signal });
  } catch (error) {
    if (error instanceof ProblemError && error.status === FORBIDDEN) return [];
    throw error;
  }
}
