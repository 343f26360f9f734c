import { Redis } from "ioredis";
import type { Log } from "../observability/log.ts";
import { Problem } from "../problem/problem.ts";
import {
  REDIS_COMMAND_TIMEOUT_MS,
  REDIS_CONNECT_TIMEOUT_MS,
  REDIS_PAUSE_MS,
  REDIS_RECONNECT_MS,
} from "../shared/limits.ts";
import type { Coordinator, Lease } from "./coordinator.ts";

/** Nothing when the lease is taken now, else the milliseconds for which it is held. */
const ACQUIRE = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
return redis.call('PTTL', KEYS[1])`;

/** Only the holder's own token renews or releases: a lease that has expired may be another's. */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** Each key stands alone in its script, so a cluster may keep them wherever it likes. */
const leaseKey = (name: string) => `tessera:lease:${name}`;
const valueKey = (key: string) => `tessera:value:${key}`;

function connect(url: string): Redis {
  const options = {
    lazyConnect: true,
    connectTimeout: REDIS_CONNECT_TIMEOUT_MS,
    commandTimeout: REDIS_COMMAND_TIMEOUT_MS,
    // What cannot be asked now is not asked later: a lease that is taken after its caller has
    // gone, or taken twice because a command was sent again, would lock everybody out.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 1,
    retryStrategy: () => REDIS_RECONNECT_MS,
  };
  if (!url.startsWith("unix://")) return new Redis(url, options);
  return new Redis({ ...options, path: new URL(url).pathname });
}

/** Knows whether the server answers, and spares everybody the wait while it does not. */
class Availability {
  #awayUntil = 0;
  #isAway = false;

  constructor(private readonly log: Log) {}

  /** Asks the server; throws `dependency-unavailable` when it fails or has failed just now. */
  async ask<T>(command: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#awayUntil) throw unavailable();
    try {
      const answer = await command();
      this.#isBack();
      return answer;
    } catch (cause) {
      this.#failed(cause);
      throw unavailable(cause);
    }
  }

  /** A new connection is worth a question at once. */
  reconnected(): void {
    this.#awayUntil = 0;
  }

  #isBack(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.log.info("Redis answers again");
  }

  #failed(err: unknown): void {
    this.#awayUntil = performance.now() + REDIS_PAUSE_MS;
    if (this.#isAway) return;
    this.#isAway = true;
    this.log.warn({ err }, "Redis does not answer; deliveries go on without it");
  }
}

function unavailable(cause?: unknown): Problem {
  const detail = "The coordination server does not answer.";
  return new Problem("dependency-unavailable", { detail, cause });
}

/**
 * Coordination through Redis 6.2 or later, shared by all processes that use the same server. Opens
 * even while the server is away and keeps looking for it.
 */
export async function openRedisCoordinator(url: string, log: Log): Promise<Coordinator> {
  const redis = connect(url);
  const availability = new Availability(log);
  // Without a listener an error event would end the process; what it means shows in the commands.
  redis.on("error", () => {});
  redis.on("ready", () => availability.reconnected());
  await availability.ask(() => redis.connect()).catch(() => {});

  function lease(name: string, token: string): Lease {
    const key = leaseKey(name);
    return {
      name,
      async renew(ttlMs) {
        const renewed = availability.ask(() => redis.eval(RENEW, 1, key, token, ttlMs));
        return (await renewed.catch(() => 0)) === 1;
      },
      async release() {
        await availability.ask(() => redis.eval(RELEASE, 1, key, token)).catch(() => {});
      },
    };
  }

  return {
    async acquire(name, ttlMs) {
      const token = crypto.randomUUID();
      const asked = () => redis.eval(ACQUIRE, 1, leaseKey(name), token, ttlMs);
      const heldForMs = (await availability.ask(asked)) as number | null;
      if (heldForMs === null) return { lease: lease(name, token) };
      return { heldForMs: Math.max(0, heldForMs) };
    },
    async put(key, value, ttlSeconds) {
      await availability.ask(() => redis.set(valueKey(key), value, "EX", ttlSeconds));
    },
    get: (key) => availability.ask(() => redis.get(valueKey(key))),
    async check() {
      const answer = await redis.ping().catch(() => null);
      return answer === "PONG" ? null : "Redis does not answer";
    },
    async close() {
      redis.disconnect();
    },
  };
}
