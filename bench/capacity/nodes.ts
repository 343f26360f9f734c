import { figure } from "./measured.ts";
import type { Options } from "./options.ts";
import { held, route, total } from "./placement.ts";
import {
  databaseLimits,
  fillLimit,
  indexBytes,
  type Limit,
  pageBytes,
  type Sized,
  searchCores,
  size,
} from "./sizing.ts";
import type { Project } from "./workload.ts";

/** Nodes that hold the vectors. Each place of the balancer's ring is one node, or several that take turns. */
export interface NodeFleet {
  readonly places: number;
  readonly replicas: number;
  readonly gib: number;
  /** `max_connections` of PostgreSQL, and chunks per commit. */
  readonly connections: number;
  readonly commit: number;
}

/** From here on larger nodes are tried before more of them, because all share one database. */
const MANY_PLACES = 8;
const ORDINARY_GIB = 256;
/** One of several projects may need so much of a node, or no hashing finds room for others beside it. */
const PROJECT_SHARE = 0.5;
/** An index has no more of them. */
const SHARDS_MAX = 1_024;
const GROWTH = 1.1;
/** A death is played for this many nodes, which are as good as any others. */
const DEATHS = 12;

/** Full vectors per second that a node reads from its disk, if the popular projects fill its free memory. */
function diskReads(projects: readonly Project[], bytes: number): number {
  let left = bytes;
  let missed = 0;
  for (const { rate, mapped } of [...projects].sort(
    (a, b) => b.rate / b.mapped - a.rate / a.mapped,
  )) {
    const share = Math.min(1, left / mapped);
    left -= share * mapped;
    missed += rate * (1 - share);
  }
  return missed * figure("fullVectorsRead");
}

/** What the node with the most of it has, over all deaths that the fleet must survive. */
interface Peaks {
  readonly hot: number;
  /** What `INDEX_MEMORY_BYTES` counts: memory and mapped files. */
  readonly counted: number;
  readonly cpu: number;
  readonly searches: number;
  readonly reads: number;
  /** Vectors that one node has to read from PostgreSQL after a death. */
  readonly moved: number;
}

export function peaksOf(projects: readonly Project[], fleet: NodeFleet, options: Options): Peaks {
  const { places, replicas, gib } = fleet;
  const routes = route(projects, places, options.seed);
  const alone = replicas === 1 && places > 1;
  const deaths = alone
    ? Array.from({ length: Math.min(places, DEATHS) }, (_, i) => i)
    : [undefined];
  const worlds = deaths.map((dead) => held(routes, places, dead));
  // Of several nodes of a place one may be dead; the others share its searches.
  const share = 1 / Math.max(1, replicas - 1);
  const most = (of: (projects: readonly Project[]) => number) =>
    Math.max(...worlds.flatMap((world) => world.map(of)));
  const before = held(routes, places).map((own) => total(own, ({ vectors }) => vectors));
  return {
    hot: most((own) => total(own, ({ hot }) => hot)),
    counted: most((own) => total(own, ({ hot, mapped }) => hot + mapped)),
    cpu: share * most((own) => total(own, ({ rate, cpu }) => rate * cpu)),
    searches: share * most((own) => total(own, ({ rate }) => rate)),
    reads: share * most((own) => diskReads(own, pageBytes(gib))),
    moved: alone
      ? Math.max(
          ...worlds.flatMap((world) =>
            world.map((own, i) => total(own, ({ vectors }) => vectors) - (before[i] ?? 0)),
          ),
        )
      : 0,
  };
}

function larger(fleet: NodeFleet, { largest }: Options): NodeFleet | undefined {
  return fleet.gib < largest ? { ...fleet, gib: fleet.gib * 2 } : undefined;
}

function more(fleet: NodeFleet): NodeFleet {
  const { places, gib } = fleet;
  if (places >= MANY_PLACES && gib < ORDINARY_GIB) {
    return { ...fleet, places: Math.ceil(places / 2), gib: gib * 2 };
  }
  return { ...fleet, places: Math.ceil(places * GROWTH) };
}

function limitsOf(projects: readonly Project[], fleet: NodeFleet, options: Options) {
  const peaks = peaksOf(projects, fleet, options);
  const share = projects.length > 1 ? PROJECT_SHARE : 1;
  const memory = indexBytes(fleet.gib);
  const cores = searchCores(fleet.gib, options);
  const largest = Math.max(...projects.map(({ hot }) => hot));
  const busiest = Math.max(...projects.map(({ rate, cpu }) => rate * cpu));
  // More nodes do not help while one project is what is too much for a node.
  const crowded = busiest / Math.max(1, fleet.replicas - 1) / cores > share;
  // Pairs need half as many places for the same number of nodes.
  const pairs = fleet.replicas > 1 ? fleet.places : Math.ceil(fleet.places / 2);
  const another = { ...fleet, places: pairs, replicas: fleet.replicas + 1 };
  const shards = Math.max(...projects.map(({ vectors }) => vectors)) / options.shard;
  const limits: Limit<NodeFleet>[] = [
    {
      name: "shards of the largest project",
      use: Math.ceil(shards) / SHARDS_MAX,
      remedy: "a larger INDEX_SHARD_VECTORS",
    },
    {
      name: "memory for the largest project",
      use: largest / memory / share,
      remedy: "larger nodes",
      grown: larger(fleet, options),
    },
    {
      name: "memory of a node",
      use: largest / memory > share ? 0 : peaks.hot / memory,
      remedy: "more nodes",
      grown: more(fleet),
    },
    {
      name: "CPU for the busiest project",
      use: busiest / Math.max(1, fleet.replicas - 1) / cores / share,
      remedy: "larger nodes, then further nodes for each project",
      grown: fleet.gib < ORDINARY_GIB ? larger(fleet, options) : another,
    },
    {
      name: "CPU of a node",
      use: crowded ? 0 : peaks.cpu / cores,
      remedy: "more nodes",
      grown: more(fleet),
    },
    {
      name: "the main thread of a node",
      use: (peaks.searches * figure("mainThread")) / 1_000 / options.busy,
      remedy: "more nodes",
      grown: { ...fleet, places: Math.ceil(fleet.places * GROWTH) },
    },
    {
      name: "disk reads of a node",
      use: peaks.reads / options.reads,
      remedy: "more nodes, whose memory holds more of the files",
      grown: more(fleet),
    },
    {
      name: "reading a dead node's projects from PostgreSQL",
      use: peaks.moved / figure("readPerSecond") / options.recovery,
      remedy: "each project on two nodes",
      grown: another,
    },
  ];
  return limits;
}

/** The fleet that bears these projects, grown from a smaller one. */
export function sizeNodes(
  projects: readonly Project[],
  start: NodeFleet,
  survive: boolean,
  options: Options,
): Sized<NodeFleet> {
  const vectors = total(projects, (project) => project.vectors);
  return size(start, (fleet) => {
    const nodes = fleet.places * fleet.replicas;
    const second: Limit<NodeFleet> = {
      ...{
        name: "a node's death",
        use: survive && nodes < 2 ? Infinity : 0,
        remedy: "a second node",
      },
      grown: { ...fleet, ...(projects.length > 1 ? { places: 2 } : { replicas: 2 }) },
    };
    return [
      second,
      ...limitsOf(projects, fleet, options),
      ...databaseLimits(fleet, { nodes, vectors }, options),
      fillLimit(vectors, figure("readPerSecond"), "several installations", options),
    ];
  });
}
