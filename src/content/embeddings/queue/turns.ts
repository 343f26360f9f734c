import type { WaitingProject } from "./queries.ts";

/** Tenants and projects whose use is remembered. */
const EMBED_TURNS_MAX = 10_000;

/** The time of the embedder that a tenant or a project has used. */
interface Use {
  /** Passes that run now. */
  running: number;
  /** Milliseconds of passes. */
  time: number;
  /** The time of the project of this tenant whose turn it was last. */
  reached: number;
}

/**
 * Shares passes over waiting files between tenants, and each tenant's share between its projects, by the time that they
 * take. Unused time is not saved up.
 */
export class Turns {
  readonly #uses = new Map<string, Use>();
  /** The tenants and projects that waited at the last choice. */
  #waiting = new Set<string>();
  /** The time of the tenant whose turn it was last. */
  #reached = 0;

  /** @param tenantMax passes that a tenant may have under way */
  constructor(
    private readonly tenantMax = Number.POSITIVE_INFINITY,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The project whose turn it is: of a tenant with fewest passes under way, then with the least time. Undefined if each
   * tenant has as many as it may have.
   */
  choose(projects: readonly WaitingProject[]): WaitingProject | undefined {
    const waiting = new Set<string>();
    for (const { id, tenant } of projects) {
      this.#admit(tenant, this.#reached);
      this.#admit(id, this.#use(tenant).reached);
      waiting.add(tenant).add(id);
    }
    this.#waiting = waiting;
    const free = projects.filter(({ tenant }) => this.#use(tenant).running < this.tenantMax);
    const [next] = free.sort(
      (a, b) => this.#compare(a.tenant, b.tenant) || this.#compare(a.id, b.id),
    );
    return next;
  }

  /** Counts work for a project until the returned function is called. */
  begin({ id, tenant }: WaitingProject): () => void {
    if (this.#uses.size > EMBED_TURNS_MAX) this.#forgetIdle();
    const [owner, project] = [this.#use(tenant), this.#use(id)];
    this.#reached = Math.max(this.#reached, owner.time);
    owner.reached = Math.max(owner.reached, project.time);
    const start = this.now();
    for (const use of [owner, project]) use.running++;
    return () => {
      for (const use of [owner, project]) {
        use.running--;
        use.time += this.now() - start;
      }
    };
  }

  /** A tenant or project that was not waiting starts at the time that the others have reached. */
  #admit(id: string, reached: number): void {
    const use = this.#use(id);
    if (!this.#waiting.has(id) && use.running === 0) use.time = Math.max(use.time, reached);
  }

  #compare(a: string, b: string): number {
    const [first, second] = [this.#use(a), this.#use(b)];
    return first.running - second.running || first.time - second.time;
  }

  #use(id: string): Use {
    let use = this.#uses.get(id);
    if (use === undefined) {
      use = { running: 0, time: 0, reached: 0 };
      this.#uses.set(id, use);
    }
    return use;
  }

  #forgetIdle(): void {
    for (const [id, { running }] of this.#uses) if (running === 0) this.#uses.delete(id);
  }
}
