import type { Principal } from "../../auth/principal.ts";
import type { Coordinator } from "../../db/coordination/coordinator.ts";
import { RATE_LIMIT_CALLERS_MAX, RATE_LIMIT_SYNC_MS } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { Config } from "../../ops/config/schema.ts";

interface Usage {
  /** Requests of all processes in this window, as far as this one knows. */
  used: number;
  /** The counts of this process that the others do not know yet. */
  unsent: number;
}

/** A number of requests per window, which every credential or every user has. */
interface Quota {
  /** Its name in the headers. */
  readonly name: string;
  readonly requests: number;
  /** Whose quota it is. */
  ownerOf(principal: Principal): string;
}

interface RateLimitOptions {
  /** Requests of a credential per window; 0 for no limit. */
  readonly requests: number;
  /** Requests of a user per window, with all credentials; 0 for no limit. */
  readonly userRequests?: number;
  readonly windowSeconds: number;
  readonly coordinator: Pick<Coordinator, "add">;
  readonly onRefused?: () => void;
  readonly syncMs?: number;
  /** The clock in milliseconds since the epoch, which the processes share. */
  readonly now?: () => number;
}

function quotasOf({ requests, userRequests = 0 }: RateLimitOptions): Quota[] {
  const quotas: Quota[] = [
    // An API key, or the user of a JWT, whose tokens change all the time.
    { name: '"default"', requests, ownerOf: ({ keyId, userId }) => keyId ?? userId },
    { name: '"user"', requests: userRequests, ownerOf: ({ userId }) => `user:${userId}` },
  ];
  return quotas.filter((quota) => quota.requests > 0);
}

/**
 * Limits the requests of each credential and of each user in fixed windows of time, which begin at the same
 * moments in all processes. A request is counted in this process, without waiting; the counts of the processes are
 * added up every RATE_LIMIT_SYNC_MS. So a caller exceeds the limit at most by the requests that the other processes answer
 * in that time. While the coordinator does not answer, every process counts on its own.
 */
export class RateLimits {
  readonly #usage = new Map<string, Usage>();
  /** The number of the current window since the epoch. */
  #window = -1;
  #timer: ReturnType<typeof setInterval> | undefined;
  #sending = false;
  readonly #quotas: readonly Quota[];
  readonly #policy: string;
  readonly #windowMs: number;
  readonly #now: () => number;

  constructor(private readonly options: RateLimitOptions) {
    const { windowSeconds, now = Date.now } = options;
    this.#quotas = quotasOf(options);
    this.#policy = this.#quotas
      .map(({ name, requests }) => `${name};q=${requests};w=${windowSeconds}`)
      .join(", ");
    this.#windowMs = windowSeconds * 1_000;
    this.#now = now;
  }

  /** Counts a request, and throws `rate-limited` when the caller has used up a quota. */
  take(principal: Principal): void {
    const usages = this.#quotas.map((quota) => this.#usageOf(quota.ownerOf(principal)));
    const isUsedUp = this.#quotas.some(({ requests }, i) => (usages[i] as Usage).used >= requests);
    if (isUsedUp) {
      this.options.onRefused?.();
      const headers = { "retry-after": String(this.#secondsLeft()) };
      throw new Problem("rate-limited", { headers });
    }
    for (const usage of usages) {
      usage.used++;
      usage.unsent++;
    }
    const { syncMs = RATE_LIMIT_SYNC_MS } = this.options;
    this.#timer ??= setInterval(() => void this.#sync(), syncMs);
  }

  /** Adds the remainder of each quota to the headers. */
  describe(principal: Principal, headers: Headers): void {
    const seconds = this.#secondsLeft();
    const left = this.#quotas.map(({ name, requests, ownerOf }) => {
      const { used } = this.#usageOf(ownerOf(principal));
      return `${name};r=${Math.max(0, requests - used)};t=${seconds}`;
    });
    headers.set("ratelimit-policy", this.#policy);
    headers.set("ratelimit", left.join(", "));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #secondsLeft(): number {
    return Math.ceil((this.#windowMs - (this.#now() % this.#windowMs)) / 1_000);
  }

  #usageOf(caller: string): Usage {
    const window = Math.floor(this.#now() / this.#windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#usage.clear();
    }
    const known = this.#usage.get(caller);
    if (known !== undefined) return known;
    const usage = { used: 0, unsent: 0 };
    this.#usage.set(caller, usage);
    // Maps keep insertion order, so the first caller has been counted for longest.
    const [oldest] = this.#usage.keys();
    if (this.#usage.size > RATE_LIMIT_CALLERS_MAX) this.#usage.delete(oldest as string);
    return usage;
  }

  /** Adds the counts of this process to those of all, and reads the sums. */
  async #sync(): Promise<void> {
    if (this.#sending) return;
    const changed = [...this.#usage].filter(([, { unsent }]) => unsent > 0);
    if (changed.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#sending = true;
    const amounts = new Map(
      changed.map(([caller, { unsent }]) => [`rate:${caller}:${this.#window}`, unsent]),
    );
    for (const [, usage] of changed) usage.unsent = 0;
    try {
      const totals = await this.options.coordinator.add(amounts, 2 * this.options.windowSeconds);
      for (const [i, [, usage]] of changed.entries()) {
        usage.used = Math.max(usage.used, (totals[i] as number) + usage.unsent);
      }
    } catch {
      // The coordinator reports that it does not answer. The uses that it may have missed are counted here.
    }
    this.#sending = false;
  }
}

/** Limits where the configuration has some. @param refused counts the requests beyond them */
export function openRateLimits(
  { rateLimit }: Config,
  coordinator: Coordinator,
  refused: { inc(): void },
): RateLimits | undefined {
  if (rateLimit.requests === 0 && rateLimit.userRequests === 0) return undefined;
  return new RateLimits({ ...rateLimit, coordinator, onRefused: () => refused.inc() });
}
