import type { Static, TSchema } from "@sinclair/typebox";
import { joined, type OwnedBytes } from "../../native/owned-bytes.ts";
import type { Coordinator } from "../db/coordination/coordinator.ts";
import { Problem } from "../domain/problem/problem.ts";
import { validator } from "../domain/problem/validate.ts";
import {
  ignoredFieldsHeader,
  ignoredFieldsOf,
  ROUTING_KEY,
  routingKeyHeader,
} from "../http/answer-headers.ts";
import { indexBehind, indexBehindHeader } from "../http/min-change.ts";
import { extensionHeader, type ResponseHeaders } from "../http/operation.ts";
import { jsonText } from "../http/respond.ts";

const LOOKUP_CURSOR_TTL_SECONDS = 900;
/** Random bytes in a cursor, which names the state that the service keeps for it. */
const CURSOR_BYTES = 18;

const CURSOR_FORMAT = /^[A-Za-z0-9_-]{24}$/;

const NEXT_PAGE = "X-Next-Page";
const NULL = Buffer.from("null");

/** The headers of `pageResponse`, for the documentation. */
export const pageHeaders: ResponseHeaders = {
  ...routingKeyHeader,
  ...extensionHeader(
    NEXT_PAGE,
    "`unavailable` if there is a next page, but its cursor cannot be kept at present: `page_info.next` is " +
      "null then, and the same request sent again later has it. Also on the last page that the engine pgvector " +
      "lists of a retrieval, after 10,000 hits. Absent otherwise.",
  ),
  ...ignoredFieldsHeader,
  ...indexBehindHeader,
};

/** A page of an answer. */
interface AnsweredPage {
  readonly json: OwnedBytes;
  /**
   * False if there is a next page whose cursor could not be kept, or that is beyond the last hit of the engine's list.
   */
  readonly hasAllCursors: boolean;
}

/** The page without the cursor of the next one. The cursor is random, so it occurs once in the page. */
function removeCursor(json: Uint8Array<ArrayBuffer>, cursor: string): OwnedBytes {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const quoted = JSON.stringify(cursor);
  const at = bytes.indexOf(quoted);
  if (at < 0) throw new Error("the page does not have the cursor of the next one");
  return joined([bytes.subarray(0, at), NULL, bytes.subarray(at + quoted.length)]);
}

interface PageFacts {
  readonly projectId: string;
  /** Milliseconds for which a change has been waiting that an empty page may lack; 0 without one. */
  readonly behindMs: number;
  /** The body of the request, and the fields of its schema. */
  readonly body: object;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export function pageResponse(
  { json, hasAllCursors }: AnsweredPage,
  { projectId, behindMs, body, fields, headers }: PageFacts,
): Response {
  return jsonText(json, {
    [ROUTING_KEY]: projectId,
    ...headers,
    ...(hasAllCursors ? {} : { [NEXT_PAGE]: "unavailable" }),
    ...ignoredFieldsOf(body, fields),
    ...indexBehind(behindMs),
  });
}

/** True if an answer lacks the cursor of the next page. */
export function lacksNextPage(headers: Headers): boolean {
  return headers.has(NEXT_PAGE);
}

/**
 * A cursor is a random key. The coordinator keeps its state for `LOOKUP_CURSOR_TTL_SECONDS`.
 */
export class StoredCursors<State extends TSchema> {
  readonly #validState: (value: unknown) => Static<State>;

  /** @param kind name of the questions; cursors of one kind are unknown to the others */
  constructor(
    private readonly coordinator: Coordinator,
    private readonly kind: string,
    state: State,
  ) {
    this.#validState = validator(state);
  }

  /** A cursor for a state that may be saved later. */
  newCursor(): string {
    const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(CURSOR_BYTES)));
    return bytes.toString("base64url");
  }

  /**
   * Saves the state of the cursor of the next page. Where that is impossible at present, the page lacks the cursor.
   *
   * @param owner the user whose space for cursors it takes
   */
  async keep(
    json: OwnedBytes,
    cursor: string,
    state: Static<State>,
    owner: string,
  ): Promise<AnsweredPage> {
    const lifetime = { owner, ttlSeconds: LOOKUP_CURSOR_TTL_SECONDS };
    try {
      await this.coordinator.put(this.#keyOf(cursor), JSON.stringify(state), lifetime);
      return { json, hasAllCursors: true };
    } catch (error) {
      if (!(error instanceof Problem) || error.slug !== "dependency-unavailable") throw error;
      return { json: removeCursor(json, cursor), hasAllCursors: false };
    }
  }

  /**
   * Null if the cursor is malformed, unknown or expired or its state is damaged. Throws
   * `dependency-unavailable`.
   */
  async load(cursor: string): Promise<Static<State> | null> {
    if (!CURSOR_FORMAT.test(cursor)) return null;
    const text = await this.#read(cursor);
    if (text === null) return null;
    try {
      return this.#validState(JSON.parse(text));
    } catch {
      // Redis is shared, so a state may be damaged.
      return null;
    }
  }

  #keyOf(cursor: string): string {
    return `${this.kind}:${cursor}`;
  }

  async #read(cursor: string): Promise<string | null> {
    try {
      return await this.coordinator.get(this.#keyOf(cursor));
    } catch (cause) {
      const detail = "The server that stores cursors does not answer.";
      throw new Problem("dependency-unavailable", { detail, cause });
    }
  }
}
