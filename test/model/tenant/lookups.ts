import fc from "fast-check";
import type { Json } from "../../../support/api/openapi.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import { fileOf, isMarkdown, WORDS } from "./content.ts";
import type { Contents } from "./scope.ts";
import { type NamedScope, scopesOf } from "./searches.ts";
import type { ModelProject, Scene, Tenant } from "./tenant.ts";

const [OK, INVALID, NOT_FOUND] = [200, 400, 404];
const PAGE_MAX = 12;

interface LookupParams {
  readonly at: number;
  /** The word to look for; null to list everything. */
  readonly word: number | null;
  readonly limit: number;
  readonly shards: number;
}

/** The paths that a lookup must return, in order of path. */
function expectedPaths(contents: Contents, word: string | null): string[] {
  const paths = [...contents].filter(([path, number]) => {
    return isMarkdown(path) && (word === null || fileOf(number).words.has(word));
  });
  return paths.map(([path]) => path).sort();
}

/** All pages of one shard; undefined when a page was refused, or a fault took the cursor away. */
async function shardPages(
  scene: Scene,
  url: string,
  ask: { readonly as: Tenant["owner"]; readonly at: number; readonly json: object },
): Promise<{ paths: string[]; items: number } | "unknown scope" | undefined> {
  const paths: string[] = [];
  let json = ask.json;
  for (let page = 0; ; page++) {
    // Pages are asked of both processes in turn.
    const { as } = ask;
    const reply = await scene.requests.send(ask.at + page, "POST", url, { as, json });
    if (reply.kind !== "answer") return undefined;
    const { status, body } = reply;
    if (status === NOT_FOUND) return "unknown scope";
    const isCursorLost = status === INVALID && body.slug === "invalid-cursor" && page > 0;
    if (isCursorLost && scene.world.calmMs <= 0) return undefined;
    same(`the status of page ${page} of ${url}, ${JSON.stringify(body)}`, status, OK);
    paths.push(...body.data.map((item: Json) => item.path));
    same(`items of page ${page} of ${url}`, body.returned, body.data.length);
    if (new Set(paths).size < paths.length) throw new Error(`${url} repeats an item: ${paths}`);
    if (body.page_info.next === null) return { paths, items: body.shard.total_items };
    json = { cursor: body.page_info.next };
  }
}

/** Looks up until all pages of all shards together show the current contents of the scope. */
export async function lookUpScope(
  { owner: as }: Tenant,
  scene: Scene,
  place: { readonly project: ModelProject; readonly named: NamedScope },
  params: LookupParams,
): Promise<void> {
  const { scope, target } = place.named;
  const word = params.word === null ? null : pick(WORDS, params.word);
  const url = `/projects/${place.project.slug}/knowledge/lookup`;
  const { limit, shards, at } = params;
  let seen: unknown;
  const attempt = async () => {
    const all: string[] = [];
    let items = 0;
    for (let shard = 0; shard < shards; shard++) {
      const query = word === null ? {} : { query: word };
      const json = {
        ...query,
        lookup_target: target,
        limit,
        shard_count: shards,
        shard_index: shard,
      };
      const result = await shardPages(scene, url, { as, at, json });
      if (result === undefined) return undefined;
      if (result === "unknown scope") {
        if (scope.isKnown) throw new Error(`${url} does not know ${JSON.stringify(target)}`);
        return undefined;
      }
      if (word === null) same(`order of ${url}`, result.paths, result.paths.toSorted());
      all.push(...result.paths);
      items += result.items;
    }
    seen = { paths: all.sort(), items };
    const paths = expectedPaths(scope.current, word);
    const wanted = { paths, items: expectedPaths(scope.current, null).length };
    return JSON.stringify(seen) === JSON.stringify(wanted) || undefined;
  };
  const what = () => `${url} with ${word} in ${JSON.stringify(target)}: ${JSON.stringify(seen)}`;
  await scene.requests.eventually(what, attempt);
}

interface CommandParams extends LookupParams {
  readonly project: number;
  readonly scope: number;
}

async function lookUp(tenant: Tenant, scene: Scene, params: CommandParams): Promise<void> {
  const project = pick(tenant.projects.values(), params.project);
  const named = pick(scopesOf(project), params.scope);
  await lookUpScope(tenant, scene, { project, named }, params);
}

const params = {
  project: fc.nat(20),
  scope: fc.nat(20),
  at: fc.nat(1),
  word: fc.option(fc.nat(WORDS.length - 1)),
  limit: fc.integer({ min: 1, max: PAGE_MAX }),
  shards: fc.constantFrom(1, 1, 1, 2, 3),
};

export const lookupCommands: Commands = [weighted(12, "look up", params, lookUp)];
