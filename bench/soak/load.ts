import type { BenchServer } from "../harness/server.ts";
import type { SoakProject, SoakWorld } from "./world.ts";

const [OK_MIN, OK_MAX, OVERLOADED] = [200, 299, 503];
const SECOND_MS = 1_000;

/** How many requests were answered, by what they did. */
export class Counts {
  readonly answered = new Map<string, number>();
  overloaded = 0;
  readonly failures: string[] = [];

  note(name: string, status: number, text: string): void {
    if (status === OVERLOADED) this.overloaded++;
    else if (status >= OK_MIN && status <= OK_MAX) {
      this.answered.set(name, (this.answered.get(name) ?? 0) + 1);
    } else {
      this.failures.push(`${name}: ${status} ${text.slice(0, 300)}`);
    }
  }
}

interface SoakRequest {
  readonly path: string;
  readonly body: string;
  /** JSON by default. */
  readonly type?: string;
  /** Called when the request has succeeded. */
  readonly onSuccess?: () => void;
}

type Work = (project: SoakProject) => SoakRequest;

/** Times per second of each kind of request, at full rate. */
const RATES = {
  search: 40,
  lookup: 20,
  retrieval: 10,
  import: 1,
  release: 0.3,
  delivery: 10,
  key: 1,
} as const;

/** Mixed load on a server: each kind of request at its own rate, over projects that take turns. */
export class SoakLoad {
  readonly counts = new Counts();
  #isOver = false;
  readonly #running: Promise<void>[] = [];

  constructor(
    private readonly server: BenchServer,
    private readonly world: SoakWorld,
    /** The share of the full rates. */
    private readonly rate: number,
  ) {}

  start(): void {
    const { world } = this;
    const json = (value: object) => JSON.stringify(value);
    const at = ({ slug }: SoakProject) => `/projects/${slug}`;
    const works: Readonly<Record<keyof typeof RATES, Work>> = {
      search: (project) => ({
        path: `${at(project)}/${world.scope(project)}/search`,
        body: world.query(),
      }),
      lookup: (project) => ({
        path: `${at(project)}/knowledge/lookup`,
        body: json(world.question()),
      }),
      retrieval: (project) => ({
        path: `${at(project)}/retrieve`,
        body: json(world.retrieval()),
      }),
      import: (project) => ({
        path: `${at(project)}/import`,
        body: world.change(),
        type: "application/x-ndjson",
      }),
      release: (project) => {
        const { name, body } = world.release(project);
        const onSuccess = () => void project.releases.add(name);
        return { path: `${at(project)}/import`, body, type: "application/x-ndjson", onSuccess };
      },
      delivery: () => ({ path: world.webhook.path, body: json({ text: "a delivery" }) }),
      key: () => ({ path: "/api-keys", body: json({ name: "short-lived" }) }),
    };
    for (const [name, perSecond] of Object.entries(RATES)) {
      const work = works[name as keyof typeof RATES];
      this.#running.push(this.#loop(name, perSecond * this.rate, work));
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** Sends a request after the other, at most so many per second. */
  async #loop(name: string, perSecond: number, work: Work): Promise<void> {
    for (let next = performance.now(); !this.#isOver; ) {
      const request = work(this.world.activeProject());
      await this.#send(name, request).catch((error: Error) => {
        this.counts.failures.push(`${name}: ${error.message}`);
      });
      next = Math.max(next + SECOND_MS / perSecond, performance.now());
      await Bun.sleep(next - performance.now());
    }
  }

  async #send(name: string, request: SoakRequest): Promise<void> {
    const { path, body, type = "application/json", onSuccess } = request;
    const response = await fetch(new URL(path, this.server.url), {
      method: "POST",
      headers: { ...this.world.headers, "content-type": type },
      body,
    });
    this.counts.note(name, response.status, await response.text());
    if (response.ok) onSuccess?.();
  }
}
