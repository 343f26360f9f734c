import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../auth/principal.ts";
import { REFERENCE_MAX_CHARS } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { Scope } from "../../domain/scope.ts";
import { ScopeNotFound, type ScopeReference, type ScopeResolver } from "./resolver.ts";

const targetName = (description: string) =>
  Type.String({ minLength: 1, maxLength: REFERENCE_MAX_CHARS, description });

export const LookupTarget = Type.Union(
  [
    Type.Object(
      { environment: targetName("The environment's name.") },
      { additionalProperties: false },
    ),
    Type.Object(
      { release: targetName("The release's name or id.") },
      { additionalProperties: false },
    ),
  ],
  {
    title: "LookupTarget",
    description:
      "Where to look: an environment by name, or a release by name or id. Default: the " +
      "environment `production`, else the first environment by name.",
    errorMessage: 'must be {"environment": "<name>"} or {"release": "<name or id>"}',
  },
);
export type LookupTarget = Static<typeof LookupTarget>;

/** The scope that a target names; without a target, the project's default. */
export function scopeRefOf(project: string, target: LookupTarget | null): ScopeReference {
  if (target === null) return { project, kind: "default" };
  return "release" in target
    ? { project, kind: "release", name: target.release }
    : { project, kind: "environment", name: target.environment };
}

export const otherQuestion = () =>
  new Problem("invalid-cursor", { detail: "The cursor belongs to another query." });

interface CursorTarget {
  /** The target that was sent with the cursor. */
  readonly given: LookupTarget | undefined;
  /** The target of the cursor's question, and the scope that it named. */
  readonly asked: LookupTarget | null;
  readonly scope: Scope;
}

/**
 * A target that is sent with a cursor must be that of its question, or name the scope that a question
 * without one has by default.
 */
export async function requireSameTarget(
  { scopes }: { readonly scopes: ScopeResolver },
  { principal, projectRef }: { readonly principal: Principal; readonly projectRef: string },
  { given, asked, scope }: CursorTarget,
): Promise<void> {
  if (given === undefined || JSON.stringify(given) === JSON.stringify(asked)) return;
  if (asked !== null) throw otherQuestion();
  try {
    const named = await scopes.resolve(principal, scopeRefOf(projectRef, given));
    if (named.id === scope.id) return;
  } catch (error) {
    if (!(error instanceof ScopeNotFound)) throw error;
  }
  throw otherQuestion();
}
