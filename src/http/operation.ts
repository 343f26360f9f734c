import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Permission, Principal } from "../auth/principal.ts";
import type { Slug } from "../problem/catalogue.ts";
import type { Problem } from "../problem/problem.ts";

export type Method = "GET" | "POST";

/** A JSON value shown in the documentation. */
export type Example = unknown;

/** What one media type of a request body looks like. */
export interface MediaType {
  readonly schema: TSchema;
  readonly example?: Example;
}

interface Common<P extends TObject, Q extends TObject> {
  /** The operation's name in the API document and in metrics. */
  readonly id: string;
  readonly method: Method;
  /** In OpenAPI form, e.g. `/conversations/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Path parameters: one property a `{name}` of the path. All strings. */
  readonly params?: P;
  /** Query parameters, as strings: numbers and so on are refined by patterns and parsed below. */
  readonly query?: Q;
  /** Request headers worth documenting. */
  readonly headers?: TObject;
  readonly status?: 200 | 201;
  readonly response: TSchema;
  readonly responseExample?: Example;
  /** Headers of the successful response, by name, with their meaning. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /**
   * True when If-None-Match can be answered with 304. A JSON operation gets its ETag from the
   * pipeline; a raw one answers so by itself.
   */
  readonly conditional?: boolean;
  /** The problems that the operation itself can answer with, besides those every one has. */
  readonly problems: readonly Slug[];
}

/** What every handler is given. */
export interface Call<P, Q> {
  readonly request: Request;
  readonly requestId: string;
  readonly params: P;
  readonly query: Q;
}

/** An operation with a validated JSON body, or none. The pipeline knows who calls. */
export interface JsonOperation<P extends TObject, Q extends TObject, B extends TSchema>
  extends Common<P, Q> {
  readonly kind: "json";
  /** The permission that the caller must hold; null when any valid credential will do. */
  readonly permission: Permission | null;
  readonly body?: B;
  readonly bodyExample?: Example;
  handle(
    call: Call<Static<P>, Static<Q>> & { readonly principal: Principal; readonly body: Static<B> },
  ): unknown;
}

/** An operation that reads its request by itself, for media types and speed beyond plain JSON. */
export interface RawOperation<P extends TObject, Q extends TObject> extends Common<P, Q> {
  readonly kind: "raw";
  /** `own` when the operation checks credentials itself, e.g. a webhook's secret. */
  readonly credential: "bearer" | "own";
  readonly permission: Permission | null;
  /** Request bodies by media type, for the documentation. */
  readonly bodies: Readonly<Record<string, MediaType>>;
  readonly bodyRequired: boolean;
  /** Members that this operation's problem documents have besides the usual ones. */
  readonly extendProblem?: (problem: Problem) => Record<string, unknown>;
  /** The schema of its problem documents where `extendProblem` adds to them. */
  readonly problemSchema?: TSchema;
  /** `principal` is undefined exactly when `credential` is `own`. */
  handle(
    call: Call<Static<P>, Static<Q>> & { readonly principal: Principal | undefined },
  ): Response | Promise<Response>;
}

// The parameter types only matter inside one operation; a list of them forgets the difference.
// biome-ignore lint/suspicious/noExplicitAny: existential type
export type Operation = JsonOperation<any, any, any> | RawOperation<any, any>;

/** Declares a JSON operation; exists for its type inference. */
export function operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
>(spec: Omit<JsonOperation<P, Q, B>, "kind">): Operation {
  return { ...spec, kind: "json" };
}

/** Declares a raw operation; exists for its type inference. */
export function rawOperation<P extends TObject = TObject, Q extends TObject = TObject>(
  spec: Omit<RawOperation<P, Q>, "kind">,
): Operation {
  return { ...spec, kind: "raw" };
}
