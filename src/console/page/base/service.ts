import { type Schemas, Tessera, TesseraError } from "../../../../client/src/index.ts";
import { Transport } from "../../../../client/src/transport.ts";
import { session } from "./session.ts";

export { type Schemas, TesseraError };
export type Project = Schemas["Project"];

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Requests without an answer. Their number is an attribute of the document, so that tests can wait for 0. */
let unanswered = 0;

function countUnanswered(change: number): void {
  unanswered += change;
  document.documentElement.dataset["requests"] = String(unanswered);
}

countUnanswered(0);

/** Sends a request, and returns once the whole answer is here. A refused credential ends the session. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  countUnanswered(1);
  try {
    const response = await fetch(url, { ...init, credentials: "omit", cache: "no-store" });
    if (response.status === UNAUTHORIZED) session.close();
    await response.clone().arrayBuffer();
    return response;
  } finally {
    countUnanswered(-1);
  }
}

/** The service, whose address is one level above the files of the console, with the credential of the tab. */
export const SERVICE = {
  baseUrl: new URL("..", import.meta.url).href.replace(/\/$/, ""),
  credential: () => session.credential,
  fetch: send,
};

export const client = new Tessera(SERVICE);

/** Sends requests beyond the methods of the client: a list with a filter, or a request whose answer has a header to read. */
export const transport = new Transport(SERVICE);

/** Maximum items that the console lists. The command line lists more. */
const LISTED_MAX = 1_000;
const PAGE_LIMIT = 100;

/** The options of the iterators of the client. */
export interface Listing {
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/** The items of a list, page after page, at most `most`. */
export async function listed<T>(
  all: (listing: Listing) => AsyncIterable<T>,
  signal?: AbortSignal,
  most = LISTED_MAX,
): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all({ limit: PAGE_LIMIT, ...(signal && { signal }) })) {
    items.push(item);
    if (items.length === most) break;
  }
  return items;
}

export const isForbidden = (error: unknown): boolean =>
  error instanceof TesseraError && error.status === FORBIDDEN;

/** A list; empty if the credential may not read it. The service still refuses requests without rights. */
export const ifAllowed = <T>(list: Promise<T[]>): Promise<T[]> =>
  list.catch((error) => {
    if (isForbidden(error)) return [];
    throw error;
  });

/** The detail of a problem with the invalid fields that it does not name, or the message of another error. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const fields = error instanceof TesseraError ? (error.problem.errors ?? []) : [];
  const further = fields.filter((each) => !message.includes(each.message));
  return [message, ...further.map(({ field, message: fault }) => `${field} ${fault}`)].join(" ");
}
