import { type Ending, openLoop, type Sender } from "../harness/load/loops.ts";
import type { Api } from "../harness/requests.ts";
import type { SoakProject, SoakWorld } from "./world.ts";

const [OK_MIN, OK_MAX, OVERLOADED] = [200, 299, 503];

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

  constructor(
    private readonly api: Api,
    private readonly world: SoakWorld,
    /** The share of the full rates. */
    private readonly rate: number,
  ) {}

  /** Sends all kinds for some time; one of a kind waits for the one before. */
  async run(seconds: number): Promise<void> {
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
    const start = performance.now();
    const loops = Object.entries(RATES).map(([name, perSecond]) => {
      const arrival = { rate: perSecond * this.rate, connections: 1 };
      const sender = this.#sender(name, works[name as keyof typeof RATES]);
      return openLoop(sender, arrival, start, start + seconds * 1_000);
    });
    await Promise.all(loops);
  }

  #sender(name: string, work: Work): Sender {
    const sender = {
      busy: 0,
      send: async (): Promise<Ending> => {
        sender.busy++;
        const status = await this.#send(name, work(this.world.activeProject())).catch((error) => {
          this.counts.failures.push(`${name}: ${error.message}`);
          return "closed" as const;
        });
        sender.busy--;
        return status;
      },
    };
    return sender;
  }

  async #send(name: string, { path, body, type, onSuccess }: SoakRequest): Promise<Ending> {
    const response = await this.api.send("POST", path, body, type);
    this.counts.note(name, response.status, await response.text());
    if (response.ok) onSuccess?.();
    return response.status;
  }
}
