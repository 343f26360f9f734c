import { type Static, Type } from "@sinclair/typebox";
import { invalid } from "../../domain/problem/problem.ts";
import { storable } from "../../domain/schemas.ts";
import type { ScopeName } from "./queries.ts";

/** The query parameters that name an environment or a release. */
export const ScopeQuery = Type.Object({
  environment: Type.Optional(
    Type.String({
      ...storable,
      description:
        "The environment, by name. By default `production`, or else the project's first environment " +
        "by name. One with an active release is read from that release.",
      examples: ["production"],
    }),
  ),
  release: Type.Optional(
    Type.String({
      ...storable,
      description: "The release, by name or id, instead of an environment.",
    }),
  ),
});
export type ScopeQuery = Static<typeof ScopeQuery>;

/** The problems of naming a scope in query parameters. */
export const SCOPE_PROBLEMS = [
  "validation-failed",
  "project-not-found",
  "environment-not-found",
  "release-not-found",
] as const;

/**
 * The scope that query parameters name; the default of the project if they name none.
 *
 * @param prefix of the names of the parameters, for a query that names two scopes
 */
export function scopeNameOf({ environment, release }: ScopeQuery, prefix = ""): ScopeName {
  if (release === undefined) {
    return environment === undefined
      ? { kind: "default" }
      : { kind: "environment", name: environment };
  }
  if (environment === undefined) return { kind: "release", name: release };
  const message = `must not be given together with ${prefix}environment`;
  throw invalid([{ field: `${prefix}release`, message }]);
}
