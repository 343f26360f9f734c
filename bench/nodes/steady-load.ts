import { randomNumbers } from "../../support/random.ts";
import { quantile } from "../harness/statistics.ts";
import { type BenchProject, totalOf } from "./world.ts";

/** How the searches that were sent in a second ended. */
interface Second {
  /** Milliseconds of those that were answered. */
  readonly times: number[];
  /** Answers with 503: the service had no place for them. */
  refused: number;
  /** Every other answer, and none. */
  failed: number;
}

/** What the searches of some seconds saw. */
export interface Seen {
  readonly searches: number;
  readonly p50: number;
  readonly p99: number;
  /** The p99 of the worst second. */
  readonly worst: number;
  readonly refused: number;
  readonly failed: number;
}

/**
 * Searches that are sent at a steady rate, whether or not the ones before are answered. A project is searched
 * as often as its share of all chunks says.
 */
export class SteadyLoad {
  readonly #seconds: Second[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #startedAt = performance.now();
  readonly #random = randomNumbers(1);
  readonly #ends: number[] = [];
  #sent = 0;

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
    private readonly projects: readonly BenchProject[],
    private readonly rate: number,
  ) {
    let end = 0;
    for (const { chunks } of projects) {
      end += chunks / totalOf(projects);
      this.#ends.push(end);
    }
    this.#timer = setInterval(() => this.#send(), 1);
  }

  /** Ends the load, when all that was sent is answered. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
  }

  /** The seconds since the start of the load. */
  get now(): number {
    return Math.floor((performance.now() - this.#startedAt) / 1_000);
  }

  /** What was seen in whole seconds, counted from the start of the load. */
  between(from: number, to: number): Seen {
    const seconds = this.#seconds.slice(from, to);
    const times = seconds.flatMap((second) => second.times);
    const sum = (of: (second: Second) => number) =>
      seconds.reduce((total, second) => total + of(second), 0);
    return {
      searches: sum((second) => second.times.length + second.refused + second.failed),
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      worst: Math.max(...seconds.map((second) => quantile(second.times, 0.99) || 0)),
      refused: sum((second) => second.refused),
      failed: sum((second) => second.failed),
    };
  }

  #send(): void {
    const due = ((performance.now() - this.#startedAt) / 1_000) * this.rate;
    for (; this.#sent < due; this.#sent++) {
      const search = this.#search();
      this.#running.add(search);
      void search.finally(() => this.#running.delete(search));
    }
  }

  #current(): Second {
    while (this.#seconds.length <= this.now) {
      this.#seconds.push({ times: [], refused: 0, failed: 0 });
    }
    return this.#seconds[this.now] as Second;
  }

  async #search(): Promise<void> {
    const at = this.#random();
    const chosen = this.#ends.findIndex((end) => at < end);
    const project = this.projects.at(chosen) as BenchProject;
    const vector = project.queries[
      this.#sent % project.queries.length
    ] as Float32Array<ArrayBuffer>;
    const second = this.#current();
    const startedAt = performance.now();
    const status = await searchOnce(this.url, this.apiKey, project, vector).catch(() => 0);
    if (status === 200) second.times.push(performance.now() - startedAt);
    else if (status === 503) second.refused++;
    else second.failed++;
  }
}

/** Searches a project; the status, after the answer has arrived. */
export async function searchOnce(
  url: string,
  apiKey: string,
  { id }: BenchProject,
  vector: Float32Array<ArrayBuffer>,
): Promise<number> {
  const path = `/projects/${id}/environments/production/search`;
  const response = await fetch(`${url}${path}?dimension=${vector.length}&threshold=0`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/octet-stream" },
    body: new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
  });
  await response.arrayBuffer();
  return response.status;
}
