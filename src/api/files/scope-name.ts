import { invalid } from "../../problem/problem.ts";
import type { ScopeName } from "../scopes/queries.ts";
import type { FileScopeQuery } from "./schema.ts";

/** The scope that query parameters name; the default of the project if they name none. */
export function scopeNameOf({ environment, release }: FileScopeQuery): ScopeName {
  if (release === undefined) {
    return environment === undefined
      ? { kind: "default" }
      : { kind: "environment", name: environment };
  }
  if (environment === undefined) return { kind: "release", name: release };
  const message = "must not be given together with environment";
  throw invalid([{ field: "release", message }]);
}
