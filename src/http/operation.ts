import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { OwnedBytes } from "../../native/owned-bytes.ts";
import type { Permission, Principal } from "../auth/principal.ts";
import type { Slug } from "../domain/problem/catalogue.ts";
import type { Problem } from "../domain/problem/problem.ts";
import type { Release } from "../ops/tenants/fair-semaphore.ts";
import type { Note } from "./request-record.ts";

/** The groups of operations in the API document, in its order, with their descriptions. */
export const TAGS = {
  Search: "Retrieval by text and vector, and search of chunks by vector.",
  Knowledge: "Lookup of documents by text.",
  Chunks: "The indexed pieces of files.",
  Files: "The files of environments and releases.",
  Import: "Records in bulk.",
  Projects: "Projects of the caller.",
  "API keys": "Create, read and revoke API keys.",
  Assistants: "The Model Context Protocol.",
  Webhooks: "Deliveries from outside.",
  Conversations: "Conversations, their messages, and answers to input requests.",
  Branches: "Whether branches can be merged.",
  Billing: "Subscription upgrades.",
  Errors: "The types of problems.",
} as const;

/** The schema of one media type of a request body. */
export interface MediaType {
  readonly schema: TSchema;
  readonly example?: unknown;
}

/** The documented headers of a response, by name. */
export type ResponseHeaders = Readonly<
  Record<string, { readonly description: string; readonly extension?: boolean }>
>;

/** A header that is this service's own addition to the API. */
export function extensionHeader(name: string, description: string): ResponseHeaders {
  return { [name]: { description, extension: true } };
}

/** The request, with its path and query parameters. */
interface Call<P, Q> {
  readonly request: Request;
  readonly requestId: string;
  /** The path of {base_url}, without a trailing slash; links in responses begin with it. */
  readonly basePath: string;
  readonly params: P;
  readonly query: Q;
  /** The caller; undefined exactly for an operation whose credential is not `bearer`. */
  readonly principal: Principal;
  /** True for a caller who names a change: the answer has every commit up to it, on any server. */
  readonly readYourWrites: boolean;
  /** Keeps a description of the work, for the case that the request is slow. */
  note: Note;
}

/**
 * An operation whose handler gets a JSON body of the schema `B` or, without one, the bytes of a body, and the target that
 * `find` has found.
 */
interface OperationOf<P extends TObject, Q extends TObject, B extends TSchema | undefined, F> {
  /** The operation's name in the API document and in metrics. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** In OpenAPI form, e.g. `/conversations/{id}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** True for an operation that is this service's own addition to the API. */
  readonly extension?: boolean;
  /**
   * `own` when the operation checks credentials itself, such as a webhook's secret, before the body is read; `none` for
   * anybody. Absent for a token or an API key, which the pipeline checks.
   */
  readonly credential?: "own" | "none";
  /** The permission that the caller must hold; null when any valid credential suffices. */
  readonly permission: Permission | null;
  /** Path parameters: one string property per `{name}` of the path. */
  readonly params?: P;
  /** Query parameters, as strings: patterns restrict numbers, which the operation parses. */
  readonly query?: Q;
  /** Request headers worth documenting. */
  readonly headers?: TObject;
  /** The schema of a JSON body. */
  readonly body?: B;
  readonly bodyExample?: unknown;
  /**
   * Bodies by media type as the document shows them, where the handler checks them: the type and the bytes, or more of
   * a JSON body than `body` does.
   */
  readonly bodies?: Readonly<Record<string, MediaType>>;
  /** True when the body may be absent; an absent JSON body means `{}`. */
  readonly bodyOptional?: boolean;
  /** True when the handler reads the body from the request as it arrives, within bounds of its own. */
  readonly streams?: boolean;
  /** Whether the main thread parses such a body; true by default. */
  readonly isParsedHere?: (bytes: Uint8Array) => boolean;
  /** The remedy for a body that is too large, in one sentence. */
  readonly tooLargeRemedy?: string;
  readonly status?: 200 | 201 | 204;
  /** True when it may create its target, and answers 201 with the same body. */
  readonly mayCreate?: boolean;
  /** Absent exactly with the status 204. */
  readonly response?: TSchema;
  readonly responseExample?: unknown;
  /** Further statuses of success, which have no body, with their descriptions. */
  readonly emptyStatuses?: Readonly<Record<number, string>>;
  /** The successful response's headers by name. */
  readonly responseHeaders?: ResponseHeaders;
  /** True when If-None-Match can be answered with 304: by the pipeline for a value, else by the handler. */
  readonly conditional?: boolean;
  /** The problems of this operation, without those that every operation has. */
  readonly problems: readonly Slug[];
  /** Additional members of this operation's problem documents, which `problemSchema` describes. */
  readonly extendProblem?: (problem: Problem) => Record<string, unknown>;
  readonly problemSchema?: TSchema;
  /**
   * True for a query of the engine, which changes nothing, whatever its method. The engine has a queue of its own: while
   * it is full, further requests of the tenant who filled it are refused before they are read.
   */
  readonly sheddable?: boolean;
  /** True when it may take rights away: this process applies that before it answers, others within a second. */
  readonly changesAccess?: boolean;
  /**
   * The part of the indexes it answers from: texts and the fields of filters, vectors with them, or the reports
   * of all servers. Absent for answers from the database. With `min_change` it waits for that part.
   */
  readonly reads?: "texts" | "vectors" | "reports";
  /** Answers callers who prefer HTML, as browsers do: a page that needs no credential. Throws problems. */
  page?(
    call: Pick<Call<Static<P>, never>, "request" | "basePath" | "params">,
  ): Response | Promise<Response>;
  /** Finds the target of the path before the body is read. Throws problems. */
  find?(call: Call<Static<P>, Static<Q>>): F | Promise<F>;
  /** The tenant who pays for a request without a principal. */
  tenantOf?(found: F): string;
  /**
   * Waits until a body of this length may be handled, in place of the wait for parsing it. The handler leaves the place; a
   * request that fails before has it left.
   */
  admit?(call: Call<Static<P>, Static<Q>>, bytes: number): Promise<Release>;
  /** Returns a response, or the value of a JSON response. Throws problems. */
  handle(
    call: Call<Static<P>, Static<Q>> & {
      readonly body: B extends TSchema ? Static<B> : OwnedBytes;
      readonly found: F;
      /** The result of `admit`. */
      readonly release: Release;
    },
  ): unknown;
}

// The parameter types matter within one operation only; a list of operations needs none.
// biome-ignore lint/suspicious/noExplicitAny: existential type
export type Operation = OperationOf<any, any, any, any>;

/** Declares an operation. A function for its type inference. */
export function operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema | undefined = undefined,
  F = undefined,
>(spec: OperationOf<P, Q, B, F>): Operation {
  return spec;
}
