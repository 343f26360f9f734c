import { placeOf } from "../base/places.ts";
import type { Params, Route } from "../base/router.ts";

const MODES = ["hybrid", "semantic", "keyword"] as const;
export type Mode = (typeof MODES)[number];

/** The question in the address. Texts that the address lacks are empty. */
export interface Question {
  readonly project: string;
  /** An environment or a release, as `environment:production`; the default environment without one. */
  readonly place: string;
  readonly mode: Mode;
  readonly query: string;
  /** A filter as JSON. */
  readonly filter: string;
  /** The id of a chunk to find similar ones of, instead of a query. */
  readonly like: string;
  /** A vector as base64, instead of a query. */
  readonly vector: string;
}

export function questionOf(params: Route["params"]): Question {
  const {
    project = "",
    in: place = "",
    mode,
    q = "",
    filter = "",
    like = "",
    vector = "",
  } = params;
  return {
    project,
    place: placeOf(place) === undefined ? "" : place,
    mode: MODES.find((each) => each === mode) ?? "hybrid",
    query: q,
    filter,
    like,
    vector,
  };
}

/** The filter as an object; undefined without a filter, and while its text is not the JSON of an object. */
export function filterOf({ filter }: Question): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(filter);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The parameters to clear for another question: an opened result and a vector belong to the previous one. */
export const OTHER_QUESTION: Params = { file: "", chunk: "", like: "", vector: "" };
