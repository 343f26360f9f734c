/**
 * A worker that searches until the scope "growing" is removed, and checks each answer. It tells when it has searched
 * once, and its report at the end. If the project
 * may be dropped meanwhile, it ends once the project is loaded without the scope.
 */

import * as native from "../../native/index.ts";
import { makeVectors } from "../../support/vectors.ts";
import { searchVector } from "./searches.ts";

declare const self: Worker;

interface Assignment {
  project: string;
  dimension: number;
  stable: number;
  seed: number;
  mayVanish?: boolean;
}

const decoder = new TextDecoder();
/** A pause after so many searches leaves time for maintenance, whose threads have the lowest priority. */
const SEARCHES_PER_PAUSE = 4;
const PAUSE_MS = 5;

self.onmessage = async ({ data }: MessageEvent<Assignment>) => {
  const { project, dimension, stable, seed, mayVanish } = data;
  const queries = makeVectors("clusters", 20, dimension, 40 + seed);
  const faults: string[] = [];
  let searches = 0;
  let largest = 0;

  const ordinalsOf = (scope: string, query: Float32Array<ArrayBuffer>): number[] | null => {
    const outcome = searchVector(project, scope, query, dimension, 10, 0, "/");
    if (outcome === native.NOT_LOADED) return null;
    const { data: hits, total_matches: total } = JSON.parse(decoder.decode(outcome));
    if (hits.length > total) faults.push(`${hits.length} hits, ${total} matches`);
    for (const [i, hit] of hits.entries()) {
      if (hit.chunk.content !== `chunk ${hit.chunk.id} é`)
        faults.push(`torn chunk ${hit.chunk.id}`);
      if (i > 0 && hit.score > hits[i - 1].score) faults.push("hits out of order");
    }
    return hits.map((hit: { chunk: { id: number } }) => hit.chunk.id);
  };

  const ended = () =>
    !native.hasScope(project, "growing") &&
    (!mayVanish || (native.hasScope(project, "stable") && native.stats(project) !== null));

  while (!ended() && faults.length < 10) {
    const row = searches % 20;
    const query = queries.slice(row * dimension, (row + 1) * dimension);
    const stableOrdinals = ordinalsOf("stable", query);
    if (stableOrdinals === null && !mayVanish) faults.push("the stable scope is gone");
    if (stableOrdinals?.some((ordinal) => ordinal >= stable)) faults.push("a chunk of no scope");
    for (const ordinal of ordinalsOf("growing", query) ?? []) largest = Math.max(largest, ordinal);
    if (++searches === 1) self.postMessage("begun");
    if (searches % SEARCHES_PER_PAUSE === 0) await Bun.sleep(PAUSE_MS);
  }
  self.postMessage({ searches, faults, largest });
};
