/** Slowest requests that are kept per project, for how long, and of how many projects. */
const SLOW_REQUESTS_MAX = 20;
const SLOW_REQUESTS_WINDOW_MS = 3_600_000;
const SLOW_PROJECTS_MAX = 500;

/** The environment or release that a request reads. */
export interface RequestScope {
  readonly projectId: string;
  readonly kind: "environment" | "release";
  readonly id: string;
}

/** What was asked, which is kept in memory for those who may read it, and is in no log. */
export interface Asked {
  /** The beginning of the query; null for a search by a vector. */
  readonly query: string | null;
  readonly mode: string;
  /** How many matches there are, at least; null for a later page, which belongs to the question of the first one. */
  readonly matches: number | null;
}

/** Characters of a query that are kept. */
const QUERY_KEPT_CHARS = 200;

export const askedOf = (
  query: string | null | undefined,
  mode: string,
  matches: number | null,
): Asked => ({ query: query?.slice(0, QUERY_KEPT_CHARS) || null, mode, matches });

/** A request that was among the slowest of its project. */
export interface SlowRequest {
  readonly at: number;
  readonly milliseconds: number;
  /** The id of the operation. */
  readonly operation: string;
  readonly requestId: string;
  readonly scope: RequestScope;
  readonly asked?: Asked | undefined;
  /** What it did. Never data of callers. */
  readonly detail: Readonly<Record<string, string | number>>;
}

interface Kept {
  readonly requests: readonly SlowRequest[];
  /** When the first of them is too old, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** A request that did not take longer is not kept; -1 while there is room. */
  readonly fastest: number;
}

function keptOf(requests: readonly SlowRequest[]): Kept {
  const isFull = requests.length === SLOW_REQUESTS_MAX;
  return {
    requests,
    expiresAt: Math.min(...requests.map(({ at }) => at)) + SLOW_REQUESTS_WINDOW_MS,
    fastest: isFull ? Math.min(...requests.map(({ milliseconds }) => milliseconds)) : -1,
  };
}

const slowestFirst = (requests: readonly SlowRequest[]) =>
  requests.toSorted((a, b) => b.milliseconds - a.milliseconds);

/** The slowest requests of each project within the last hour. Most requests cost one look-up here. */
export class SlowRequests {
  /** By project; that to which nothing was added for longest is first. */
  readonly #projects = new Map<string, Kept>();

  /** @param describe is called only for a request that is kept */
  offer(
    projectId: string,
    milliseconds: number,
    describe: () => Omit<SlowRequest, "at" | "milliseconds">,
    now = Date.now(),
  ): void {
    const known = this.#projects.get(projectId);
    if (known !== undefined && milliseconds <= known.fastest && now < known.expiresAt) return;
    const recent = this.of(projectId, now);
    const all = [...recent, { at: now, milliseconds, ...describe() }];
    this.#projects.delete(projectId);
    this.#projects.set(projectId, keptOf(slowestFirst(all).slice(0, SLOW_REQUESTS_MAX)));
    if (this.#projects.size <= SLOW_PROJECTS_MAX) return;
    const [longest] = this.#projects.keys();
    this.#projects.delete(longest as string);
  }

  /** Those of a project, slowest first. */
  of(projectId: string, now = Date.now()): readonly SlowRequest[] {
    const { requests } = this.#projects.get(projectId) ?? { requests: [] };
    return requests.filter(({ at }) => now - at < SLOW_REQUESTS_WINDOW_MS);
  }
}
