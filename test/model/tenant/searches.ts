import fc from "fast-check";
import type { Json } from "../../../support/api/openapi.ts";
import type { Sending } from "../world/requests.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import { vectorOf } from "./content.ts";
import { chunkName, type Hit, isExact, type VectorQuery } from "./ranking.ts";
import type { Contents, Scope } from "./scope.ts";
import type { ModelProject, Scene, Tenant } from "./tenant.ts";

const [OK, NOT_FOUND] = [200, 404];
const VECTORS = 60;

export interface NamedScope {
  readonly scope: Scope;
  /** `environments/NAME` or `releases/NAME`. */
  readonly path: string;
  readonly target: { readonly environment: string } | { readonly release: string };
}

/** All scopes of a project. */
export function scopesOf({ environments, releases }: ModelProject): NamedScope[] {
  return [
    ...[...environments].map(([name, { scope }]) => {
      return { scope, path: `environments/${name}`, target: { environment: name } };
    }),
    ...[...releases].map(([name, scope]) => {
      return { scope, path: `releases/${name}`, target: { release: name } };
    }),
  ];
}

interface SearchParams {
  /** The process that is asked. */
  readonly at: number;
  readonly vector: number;
  readonly limit: number;
  readonly threshold: number;
  readonly form: "array" | "base64" | "bytes";
  readonly exact: boolean;
}

function requestOf(params: SearchParams, { vector, limit, threshold }: VectorQuery) {
  const { form, exact } = params;
  const dimension = vector.length;
  const bytes = Buffer.from(vector.buffer);
  if (form === "bytes") {
    const headers = { "content-type": "application/octet-stream" };
    const query = `?dimension=${dimension}&limit=${limit}&threshold=${threshold}`;
    const sending: Sending = { headers, body: new Uint8Array(bytes) };
    return { query: exact ? `${query}&effort=exact` : query, sending };
  }
  const given = form === "array" ? Array.from(vector) : bytes.toString("base64");
  const sending: Sending = { json: { vector: given, dimension, limit, threshold } };
  return { query: exact ? "?effort=exact" : "", sending };
}

/** The process behind a number, and a name for it that ends with the process. */
const processOf = ({ world }: Scene, at: number) =>
  `${at % world.services.length}:${world.service(at).epoch}`;

/** Searches until a process shows the current contents of the scope. */
export async function searchScope(
  tenant: Tenant,
  scene: Scene,
  place: { readonly project: ModelProject; readonly named: NamedScope },
  params: SearchParams,
): Promise<void> {
  const { scope, path } = place.named;
  const wanted = { ...params, vector: vectorOf(params.vector) };
  const { query, sending } = requestOf(params, wanted);
  const url = `/projects/${place.project.slug}/${path}/search${query}`;
  const callers = place.project.isShared ? [tenant.owner, tenant.member] : [tenant.owner];
  const as = pick(callers, params.vector);
  await scene.requests.eventually(`the current answer of ${url}`, async () => {
    const process = processOf(scene, params.at);
    const reply = await scene.requests.send(params.at, "POST", url, { as, ...sending });
    if (reply.kind !== "answer") return undefined;
    // A scope that has just been created may be unknown for a moment, never one that was seen.
    if (reply.status === NOT_FOUND && !scope.isKnown) return undefined;
    same(`the status of ${url}, ${JSON.stringify(reply.body)}`, reply.status, OK);
    const hits = reply.body.data.map(({ chunk, score }: Json): Hit => {
      return [chunkName(chunk.file_path, chunk.index, chunk.content), score];
    });
    const agrees = (contents: Contents) => isExact(contents, hits, wanted);
    // While the process was replaced, it may have been either one.
    const by = process === processOf(scene, params.at) ? process : undefined;
    return scope.shows(by, agrees, () => `${url}: ${JSON.stringify(hits)}`) || undefined;
  });
}

interface CommandParams extends SearchParams {
  readonly project: number;
  readonly scope: number;
}

async function search(tenant: Tenant, scene: Scene, params: CommandParams): Promise<void> {
  const project = pick(tenant.projects.values(), params.project);
  const named = pick(scopesOf(project), params.scope);
  await searchScope(tenant, scene, { project, named }, params);
}

const params = {
  project: fc.nat(20),
  scope: fc.nat(20),
  at: fc.nat(1),
  vector: fc.nat(VECTORS),
  limit: fc.oneof(fc.constant(100), fc.integer({ min: 1, max: 12 })),
  threshold: fc.constantFrom(0, 0.05, 0.5, 0.99),
  form: fc.constantFrom("array" as const, "base64" as const, "bytes" as const),
  exact: fc.boolean(),
};

export const searchCommands: Commands = [weighted(24, "search", params, search)];
