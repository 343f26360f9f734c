import type { Project } from "../base/service.ts";
import type { Mode } from "./question.ts";

/** The embedder without a model, whose vectors compare words and their parts. */
const HASHING = "hashing";

/** A word for the closeness of two vectors of the project. */
export const closenessOf = (project: Project | undefined): "similarity" | "meaning" =>
  project?.embedder === HASHING ? "similarity" : "meaning";

/** The ways in which each mode finds passages, as they follow "found". */
export const waysOf = (project: Project | undefined): Readonly<Record<Mode, string>> => ({
  hybrid: `by ${closenessOf(project)} and words`,
  semantic: `by ${closenessOf(project)}`,
  keyword: "by words",
});
