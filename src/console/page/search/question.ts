import { parsePlace } from "../base/places.ts";
import type { Params, Route } from "../base/router.ts";

const MODES = ["hybrid", "semantic", "keyword"] as const;
export type Mode = (typeof MODES)[number];

/** The question in the address. */
export interface Question {
  readonly project: string;
  /** The default environment without one. */
  readonly target: ReturnType<typeof parsePlace>;
  readonly mode: Mode;
  readonly query: string;
  /** A filter as JSON. */
  readonly filter: string;
  /** The id of a chunk to find similar ones of, instead of a query. */
  readonly like: string;
  /** A vector as base64, instead of a query. */
  readonly vector: string;
}

export function questionOf({ params }: Route): Question {
  return {
    project: params["project"] ?? "",
    target: parsePlace(params["in"]),
    mode: MODES.find((mode) => mode === params["mode"]) ?? "hybrid",
    query: params["q"] ?? "",
    filter: params["filter"] ?? "",
    like: params["like"] ?? "",
    vector: params["vector"] ?? "",
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
