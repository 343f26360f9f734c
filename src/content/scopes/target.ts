import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../auth/principal.ts";
import { REFERENCE_MAX_CHARS } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { Scope } from "../../domain/scope.ts";
import { targetOf } from "../../http/request.ts";
import type { Note } from "../../http/request-record.ts";
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
function scopeRefOf(project: string, target: LookupTarget | null): ScopeReference {
  if (target === null) return { project, kind: "default" };
  return "release" in target
    ? { project, kind: "release", name: target.release }
    : { project, kind: "environment", name: target.environment };
}

export const otherQuestion = () =>
  new Problem("invalid-cursor", { detail: "The cursor belongs to another query." });

/** The call of an operation that answers a question page by page. */
export interface QuestionCall<Body> {
  readonly principal: Principal;
  readonly params: { readonly project_reference: string };
  readonly body: Body;
  readonly request: Request;
  readonly basePath: string;
  /** True if the request must see all changes that were committed before it. */
  readonly readYourWrites: boolean;
  readonly note: Note;
}

/** The path of the request, for `page_info.self`. */
export function selfPathOf({ basePath, request }: QuestionCall<unknown>): string {
  return basePath + targetOf(request.url).path;
}

interface KnownQuestion {
  readonly projectId: string;
  readonly target: LookupTarget | null;
}

/** How a body asks a question, or continues one. */
interface Asked<Question> {
  readonly cursor: string | undefined;
  readonly target: LookupTarget | undefined;
  /** The question of a body without a cursor. Throws a 400 about its faults. */
  first(projectId: string): Question;
  /** Throws `invalid-cursor` unless the members of the body equal those of the cursor's question. */
  requireSame(question: Question): void;
}

interface Begun<State extends { readonly question: KnownQuestion }> {
  readonly question: State["question"];
  /** The state of the cursor; null without one. */
  readonly known: State | null;
  readonly scope: Scope;
}

interface QuestionServices<State> {
  readonly scopes: ScopeResolver;
  readonly cursors: { load(cursor: string): Promise<State | null> };
}

/**
 * The question that a body asks or continues, and its scope. The cursor contains its scope, so it is read first.
 * Nevertheless errors are reported in this order: missing project, invalid body, missing scope.
 */
export async function begin<State extends { readonly question: KnownQuestion }>(
  { scopes, cursors }: QuestionServices<State>,
  { principal, params, readYourWrites }: Omit<QuestionCall<never>, "body">,
  { cursor, target: given, first, requireSame }: Asked<State["question"]>,
): Promise<Begun<State>> {
  const { project_reference: project } = params;
  const known = cursor === undefined ? null : await cursors.load(cursor);
  const target = known === null ? (given ?? null) : known.question.target;
  const scope = await scopes.find(principal, scopeRefOf(project, target), readYourWrites);
  const { projectId } = scope;
  if (cursor !== undefined && known?.question.projectId !== projectId) {
    throw new Problem("invalid-cursor");
  }
  const question = known?.question ?? first(projectId);
  if (known !== null) requireSame(question);
  if (scope instanceof ScopeNotFound) throw scope;
  if (known !== null && given !== undefined && !Bun.deepEquals(given, target)) {
    // A target that is sent with a cursor may also name the scope that its question had by default.
    if (target !== null) throw otherQuestion();
    const named = await scopes.find(principal, scopeRefOf(project, given));
    if (named instanceof ScopeNotFound || named.id !== scope.id) throw otherQuestion();
  }
  return { question, known, scope };
}
