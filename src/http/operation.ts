import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { OwnedBytes } from "../../native/owned-bytes.ts";
import type { Permission, Principal } from "../auth/principal.ts";
import type { Slug } from "../problem/catalogue.ts";
import type { Problem } from "../problem/problem.ts";
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

type Tag = keyof typeof TAGS;

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A JSON value shown in the documentation. */
type Example = unknown;

/** The schema of one media type of a request body. */
export interface MediaType {
  readonly schema: TSchema;
  readonly example?: Example;
}

/** A documented header of a response. */
export interface ResponseHeader {
  readonly description: string;
  /** True for a header that is this service's own addition to the API. */
  readonly extension?: boolean;
}

interface Common<P extends TObject, Q extends TObject> {
  /** The operation's name in the API document and in metrics. */
  readonly id: string;
  readonly method: Method;
  /** In OpenAPI form, e.g. `/conversations/{id}`. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** True for an operation that is this service's own addition to the API. */
  readonly extension?: boolean;
  /** Path parameters: one string property per `{name}` of the path. */
  readonly params?: P;
  /** Query parameters, as strings: patterns restrict numbers, which the operation parses. */
  readonly query?: Q;
  /** Request headers worth documenting. */
  readonly headers?: TObject;
  readonly status?: 200 | 201 | 204;
  /** True when it may create what it names; that is answered 201 with the same body. */
  readonly mayCreate?: boolean;
  /** Absent exactly with the status 204. */
  readonly response?: TSchema;
  readonly responseExample?: Example;
  /** Further statuses of success, which have no body, with their descriptions. */
  readonly emptyStatuses?: Readonly<Record<number, string>>;
  /** The successful response's headers by name. */
  readonly responseHeaders?: Readonly<Record<string, ResponseHeader>>;
  /**
   * True when If-None-Match can be answered with 304. The pipeline does so for JSON operations;
   * raw operations do it themselves.
   */
  readonly conditional?: boolean;
  /** The problems of this operation, without those that every operation has. */
  readonly problems: readonly Slug[];
  /**
   * True for an operation on the engine, which has a queue of its own: while it is full, further requests
   * of the tenant who filled it are refused before they are read.
   */
  readonly sheds?: boolean;
  /** Answers callers who prefer HTML, as browsers do: a page that needs no credential. Throws problems. */
  page?(
    call: Pick<Call<Static<P>, never>, "request" | "basePath" | "params">,
  ): Response | Promise<Response>;
  /** True when it changes nothing, although its method may: nothing is lost if the client is gone. */
  readonly safe?: boolean;
  /**
   * The part of the indexes it answers from: texts and what filters compare, vectors beside them, or what all
   * servers have reported. Absent for answers from the database. With `min_change` it waits for that part.
   */
  readonly reads?: "texts" | "vectors" | "reports";
}

/** The argument of every handler. */
interface Call<P, Q> {
  readonly request: Request;
  readonly requestId: string;
  /** The path of {base_url}, without a trailing slash; links in responses begin with it. */
  readonly basePath: string;
  readonly params: P;
  readonly query: Q;
  /** True for a caller who names a change and has to see what was committed before, on any server. */
  readonly isFresh: boolean;
  /** Keeps a description of the work, for the case that the request is slow. */
  note: Note;
}

/** An operation with a validated JSON body or none, for authenticated callers. */
interface JsonOperation<P extends TObject, Q extends TObject, B extends TSchema>
  extends Common<P, Q> {
  readonly kind: "json";
  /** The permission that the caller must hold; null when any valid credential suffices. */
  readonly permission: Permission | null;
  readonly body?: B;
  /** The body as the document shows it, where the handler checks more of it than `body` does. */
  readonly documentedBody?: TSchema;
  readonly bodyExample?: Example;
  /** True when an absent body means `{}`. */
  readonly bodyOptional?: boolean;
  /** True when it may take rights away: this process applies that before it answers, others within a second. */
  readonly changesAccess?: boolean;
  handle(
    call: Call<Static<P>, Static<Q>> & { readonly principal: Principal; readonly body: Static<B> },
  ): unknown;
}

/** An operation that reads its request itself, for other media types than JSON or for speed. */
interface RawOperation<P extends TObject, Q extends TObject> extends Common<P, Q> {
  readonly kind: "raw";
  /** `own` when the operation checks credentials itself, such as a webhook's secret; `none` for anybody. */
  readonly credential: "bearer" | "own" | "none";
  readonly permission: Permission | null;
  /** Request bodies by media type, for the documentation. */
  readonly bodies: Readonly<Record<string, MediaType>>;
  readonly bodyRequired: boolean;
  /** Additional members of this operation's problem documents. */
  readonly extendProblem?: (problem: Problem) => Record<string, unknown>;
  /** The schema of its problem documents when `extendProblem` adds members. */
  readonly problemSchema?: TSchema;
  /** `principal` is undefined exactly when `credential` is not `bearer`. */
  handle(
    call: Call<Static<P>, Static<Q>> & {
      readonly principal: Principal | undefined;
      /**
       * Reads the body, then takes a place on the database. Throws `overloaded` and problems of the body.
       * @param tenant who pays for both; the principal's user by default
       * @param admit waits until a body of this length may be taken up; by default as long as parsing it here needs
       */
      readBody(tenant?: string, admit?: (bytes: number) => Promise<void>): Promise<OwnedBytes>;
    },
  ): Response | Promise<Response>;
}

// The parameter types matter within one operation only; a list of operations needs none.
// biome-ignore lint/suspicious/noExplicitAny: existential type
export type AnyJsonOperation = JsonOperation<any, any, any>;
// biome-ignore lint/suspicious/noExplicitAny: existential type
export type Operation = AnyJsonOperation | RawOperation<any, any>;

/** The credential that an operation takes. */
export function credentialOf(operation: Operation): "bearer" | "own" | "none" {
  return operation.kind === "json" ? "bearer" : operation.credential;
}

/** Declares a JSON operation. A function for its type inference. */
export function operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
>(spec: Omit<JsonOperation<P, Q, B>, "kind">): Operation {
  return { ...spec, kind: "json" };
}

/** Declares a raw operation. A function for its type inference. */
export function rawOperation<P extends TObject = TObject, Q extends TObject = TObject>(
  spec: Omit<RawOperation<P, Q>, "kind">,
): Operation {
  return { ...spec, kind: "raw" };
}
