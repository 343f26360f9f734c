import { randomNumbers } from "../../support/random.ts";
import type { Project } from "./workload.ts";

/** nginx gives each server of a consistent hash so many points. */
const POINTS = 160;

/** Where the balancer sends a project: its place, and the place that takes over when that one dies. */
export interface Route {
  readonly project: Project;
  readonly place: number;
  readonly next: number;
}

interface Point {
  readonly at: number;
  readonly place: number;
}

/** The first point at or behind a position of the ring. */
function firstFrom(ring: readonly Point[], at: number): number {
  let low = 0;
  let high = ring.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ring[middle]?.at ?? 1) < at) low = middle + 1;
    else high = middle;
  }
  return low % ring.length;
}

/** Routes projects over the places of a ring by consistent hashing. */
export function route(projects: readonly Project[], places: number, seed: number): Route[] {
  const random = randomNumbers(seed);
  const positions = projects.map(random);
  const ring = Array.from({ length: places * POINTS }, (_, i) => ({
    ...{ at: random(), place: Math.floor(i / POINTS) },
  })).sort((a, b) => a.at - b.at);
  return projects.map((project, i) => {
    const first = firstFrom(ring, positions[i] as number);
    const place = ring[first]?.place ?? 0;
    let next = place;
    for (let step = 1; step < ring.length && next === place; step++) {
      next = ring[(first + step) % ring.length]?.place ?? place;
    }
    return { project, place, next };
  });
}

export const total = (projects: readonly Project[], of: (project: Project) => number): number =>
  projects.reduce((sum, project) => sum + of(project), 0);

/** The projects of each place, after one of them died. */
export function held(routes: readonly Route[], places: number, dead?: number): Project[][] {
  const all: Project[][] = Array.from({ length: places }, () => []);
  for (const { project, place, next } of routes) all[place === dead ? next : place]?.push(project);
  return all;
}
