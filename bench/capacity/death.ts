import { randomNumbers } from "../../support/random.ts";
import { quantile } from "../../support/statistics.ts";
import { figure } from "./measured.ts";
import type { NodeFleet } from "./nodes.ts";
import type { Options } from "./options.ts";
import { route, total } from "./placement.ts";
import type { Project } from "./workload.ts";

/** What searches of one node saw, milliseconds of the answered ones. */
interface Seen {
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  readonly refused: number;
}

export interface Death {
  readonly before: Seen;
  readonly after: Seen;
  /** Seconds until the last project of the dead node is searchable on this one. */
  readonly loaded: number;
  /** The same from shared snapshots. */
  readonly restored: number;
}

const SECONDS = 60;
/** The minute is shortened for a node with more searches, and refusals are counted per minute. */
const SEARCHES_MAX = 200_000;

interface Arriving extends Project {
  /** Second at which the node has it in memory. */
  readonly ready: number;
}

/** Projects that a node reads one after another, small ones first, behind those that it has. */
function arriving(own: readonly Project[], moved: readonly Project[]): Arriving[] {
  let read = 0;
  const later = [...moved]
    .sort((a, b) => a.vectors - b.vectors)
    .map((project) => {
      read += project.vectors / figure("readPerSecond");
      return { ...project, ready: read };
    });
  return [...own.map((project) => ({ ...project, ready: 0 })), ...later];
}

/** Finds the project of a number between 0 and the sum of all rates. */
function chooser(projects: readonly Arriving[]): (at: number) => Arriving | undefined {
  let sum = 0;
  const ends = projects.map(({ rate }) => {
    sum += rate;
    return sum;
  });
  return (at) => projects[ends.findIndex((end) => at < end)];
}

/** A minute of a node, search by search: Poisson arrivals, one queue bounded by its work, several cores. */
function play(projects: readonly Arriving[], cores: number, seed: number): Seen {
  const random = randomNumbers(seed);
  const rate = total(projects, (project) => project.rate);
  const seconds = Math.min(SECONDS, SEARCHES_MAX / rate);
  const choose = chooser(projects);
  const free = Array.from({ length: cores }, () => 0);
  const times: number[] = [];
  let refused = 0;
  for (let now = 0; now < seconds; now += -Math.log(1 - random()) / rate) {
    const project = choose(random() * rate);
    if (project === undefined) break;
    const wait = Math.max(0, project.ready - now);
    const core = free.indexOf(Math.min(...free));
    const queued = Math.max(0, (free[core] ?? 0) - now);
    if (wait > figure("requestWait") || queued > figure("queue")) {
      refused++;
      continue;
    }
    // A search whose project comes later takes a core only then, which the queue of now leaves out.
    if (wait === 0) free[core] = now + queued + project.cpu;
    times.push((wait + queued + project.cpu) * 1_000);
  }
  const minute = SECONDS / seconds;
  return {
    ...{ p50: quantile(times, 0.5), p99: quantile(times, 0.99) },
    ...{ answered: Math.round(times.length * minute), refused: Math.round(refused * minute) },
  };
}

const mostOf = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/** The minute before and after the death of the busiest node, on the node that inherits most of its searches. */
export function playDeath(projects: readonly Project[], fleet: NodeFleet, options: Options): Death {
  const { places, replicas, gib } = fleet;
  const routes = route(projects, places, options.seed);
  const cores = Math.max(1, Math.floor(gib / options.gibPerCore) - 1);
  const of = (place: number) =>
    routes.filter((one) => one.place === place).map((one) => one.project);
  const busiest = mostOf(
    Array.from({ length: places }, (_, place) => total(of(place), ({ rate }) => rate)),
  );
  const scaled = (own: readonly Project[], share: number) =>
    own.map((project) => ({ ...project, rate: project.rate * share }));
  if (replicas > 1) {
    const own = of(busiest);
    const before = play(arriving(scaled(own, 1 / replicas), []), cores, options.seed);
    const after = play(arriving(scaled(own, 1 / (replicas - 1)), []), cores, options.seed);
    return { before, after, loaded: 0, restored: 0 };
  }
  const dead = routes.filter(({ place }) => place === busiest);
  const inherited = Array.from({ length: places }, (_, heir) =>
    dead.filter(({ next }) => next === heir && heir !== busiest).map(({ project }) => project),
  );
  const searches = inherited.map((moved) => total(moved, ({ rate }) => rate));
  const heir = mostOf(searches);
  const after = arriving(of(heir), inherited[heir] ?? []);
  return {
    before: play(arriving(of(heir), []), cores, options.seed),
    after: play(after, cores, options.seed),
    loaded: Math.max(0, ...after.map(({ ready }) => ready)),
    restored: total(inherited[heir] ?? [], ({ vectors }) => vectors) * figure("restore") * 1e-6,
  };
}
