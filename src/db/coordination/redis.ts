import { Redis, ReplyError } from "ioredis";
import { REDIS_COMMAND_TIMEOUT_MS, REDIS_OWNER_VALUES_MAX_BYTES } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { Breaker } from "../../ops/breaker.ts";
import type { CallObserver } from "../../ops/observability/calls.ts";
import type { Log } from "../../ops/observability/log.ts";
import { LogLimiter } from "../../ops/observability/log-limiter.ts";
import { CoordinationRefusal, type Coordinator, type Lease } from "./coordinator.ts";

const REDIS_CONNECT_TIMEOUT_MS = 2_000;
const REDIS_RECONNECT_MS = 250;
/** The value that a check writes lasts this long. */
const CHECK_TTL_MS = 1_000;

/** Takes the lease and returns false, or returns the milliseconds for which another holder still has it. */
const ACQUIRE = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
return redis.call('PTTL', KEYS[1])`;

/** Renewing and releasing need the holder's token: after expiry another may hold the lease. */
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/**
 * Adds a key to the sorted set of its owner's keys. The score of a key is the sum of the bytes up to its value. Removes
 * and returns the oldest keys, whose values are wholly beyond the bytes that an owner may have.
 */
const TAKE_SPACE = `
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local sum = (tonumber(last[2]) or 0) + ARGV[2]
redis.call('ZADD', KEYS[1], sum, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[3])
local over = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', sum - ARGV[4], 'LIMIT', 0, 100)
if #over > 0 then redis.call('ZREM', KEYS[1], unpack(over)) end
return over`;

/** The names of keys in Redis. Installations that share a server have different identities. */
function keysOf(identity: string) {
  const named = (kind: string) => (name: string) => `tessera:${identity}:${kind}:${name}`;
  return {
    leaseKey: named("lease"),
    countKey: named("count"),
    spaceKey: named("space"),
    valueKey: named("value"),
  };
}

const CLUSTER_FAULT =
  "Redis is a node of a cluster, which stores only a part of the keys: set REDIS_URL to a standalone server";

/** The fault of a server that is a node of a cluster; null for a standalone one. */
async function clusterFault(redis: Redis): Promise<string | null> {
  // For an account without the right to INFO, the server counts as standalone.
  const info = await redis.info("cluster").catch(() => "");
  return /^cluster_enabled:1/m.test(info) ? CLUSTER_FAULT : null;
}

function connect(url: string, commandTimeout: number): Redis {
  const options = {
    lazyConnect: true,
    connectTimeout: REDIS_CONNECT_TIMEOUT_MS,
    commandTimeout,
    // Commands are neither queued nor sent again: a lease that is taken after its caller has left,
    // or taken twice, would block everyone until it expires.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 1,
    retryStrategy: () => REDIS_RECONNECT_MS,
  };
  if (!url.startsWith("unix://")) return new Redis(url, options);
  return new Redis({ ...options, path: new URL(url).pathname });
}

/** The reason of a server that has answered a command with an error, such as `OOM` or `READONLY`. */
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof ReplyError)) return undefined;
  return /^\S*/.exec((error as Error).message)?.[0];
}

/**
 * While the server does not answer, commands fail without being sent, until a probe is answered. A command that the
 * server refuses does not open the circuit, because its caller did not have to wait.
 */
class Circuit {
  readonly #refusals = new LogLimiter();
  readonly #breaker: Breaker;
  #probes: ReturnType<typeof setInterval> | undefined;
  #isEnded = false;

  constructor(
    private readonly redis: Redis,
    private readonly log: Log,
    private readonly observer: CallObserver | undefined,
  ) {
    // The timer of the probes is the pause between them.
    this.#breaker = new Breaker({ pauseMs: 0, onChange: (...change) => this.#changed(...change) });
    redis.on("ready", () => this.#breaker.close());
  }

  get isOpen(): boolean {
    return this.#isEnded || this.#breaker.isOpen;
  }

  /** Sends a command. Throws `dependency-unavailable` if it fails, or immediately while the circuit is open. */
  async send<T>(name: string, command: () => Promise<T>): Promise<T> {
    if (this.isOpen) throw unavailable();
    const send = () => this.observer?.around(name, command) ?? command();
    try {
      return await this.#breaker.call(send, (error) => refusalOf(error) === undefined);
    } catch (cause) {
      this.#noteRefusal(cause);
      throw unavailable(cause);
    }
  }

  end(): void {
    this.#isEnded = true;
    clearInterval(this.#probes);
  }

  #noteRefusal(err: unknown): void {
    const reason = refusalOf(err);
    if (reason === undefined) return;
    this.#refusals.limited(reason, (suppressed) => {
      this.log.warn({ err, suppressed }, "Redis refuses commands; requests continue without it");
    });
  }

  #changed(isOpen: boolean, err: unknown): void {
    clearInterval(this.#probes);
    if (this.#isEnded) return;
    if (isOpen) {
      this.log.warn({ err }, "Redis does not answer; requests continue without it");
      this.#probes = setInterval(() => this.#probe().catch(() => {}), REDIS_RECONNECT_MS);
      this.#probes.unref();
    } else {
      this.log.info("Redis answers again");
    }
  }

  async #probe(): Promise<void> {
    await this.#breaker.call(async () => {
      try {
        await this.redis.ping();
      } catch (error) {
        if (refusalOf(error) !== undefined) return;
        // The server may have disappeared without closing the connection, which then never answers again.
        if (this.redis.status === "ready") this.redis.disconnect(true);
        throw error;
      }
    });
  }
}

function unavailable(cause?: unknown): Problem {
  const detail = "The coordination server does not answer.";
  return new Problem("dependency-unavailable", { detail, cause });
}

/**
 * Coordination through Redis 6.2 or later, shared by all processes that use the same server and database. Opens
 * even while the server is unavailable, and keeps reconnecting. Throws a CoordinationRefusal for a node of a cluster.
 * @param identity of the database whose service this is; its keys begin with it
 */
export async function openRedisCoordinator(
  url: string,
  identity: string,
  log: Log,
  observer?: CallObserver,
  commandTimeoutMs = REDIS_COMMAND_TIMEOUT_MS,
): Promise<Coordinator> {
  const redis = connect(url, commandTimeoutMs);
  const circuit = new Circuit(redis, log, observer);
  // Without a listener an error event would end the process. The commands report the errors.
  redis.on("error", () => {});
  const connected = circuit.send("CONNECT", () => redis.connect().then(() => clusterFault(redis)));
  const fault = await connected.catch(() => null);
  if (fault !== null) {
    redis.disconnect();
    throw new CoordinationRefusal(fault);
  }
  const { leaseKey, countKey, spaceKey, valueKey } = keysOf(identity);

  function lease(name: string, token: string): Lease {
    const key = leaseKey(name);
    return {
      name,
      async renew(ttlMs) {
        const renewed = circuit.send("EVAL", () => redis.eval(RENEW, 1, key, token, ttlMs));
        return (await renewed.catch(() => 0)) === 1;
      },
      async release() {
        await circuit.send("EVAL", () => redis.eval(RELEASE, 1, key, token)).catch(() => {});
      },
    };
  }

  async function count(key: string, by: number, ttlSeconds: number): Promise<number> {
    const name = countKey(key);
    // The client pipelines both commands, in this order.
    const answers = [redis.incrby(name, by), redis.expire(name, ttlSeconds)] as const;
    return (await Promise.all(answers))[0];
  }

  return {
    async acquire(name, ttlMs) {
      const token = crypto.randomUUID();
      const acquire = () => redis.eval(ACQUIRE, 1, leaseKey(name), token, ttlMs);
      const heldForMs = (await circuit.send("EVAL", acquire)) as number | null;
      if (heldForMs === null) return { lease: lease(name, token) };
      return { heldForMs: Math.max(0, heldForMs) };
    },
    async put(key, value, { owner, ttlSeconds }) {
      const name = valueKey(key);
      const [space, bytes] = [spaceKey(owner), Buffer.byteLength(name) + Buffer.byteLength(value)];
      const max = REDIS_OWNER_VALUES_MAX_BYTES;
      const [, over] = await circuit.send("SET", () =>
        Promise.all([
          redis.set(name, value, "EX", ttlSeconds),
          redis.eval(TAKE_SPACE, 1, space, name, bytes, ttlSeconds, max) as Promise<string[]>,
        ]),
      );
      if (over.length > 0) redis.unlink(...over).catch(() => {});
    },
    get: (key) => circuit.send("GET", () => redis.get(valueKey(key))),
    async add(amounts, ttlSeconds) {
      const send = () => Promise.all([...amounts].map(([key, by]) => count(key, by, ttlSeconds)));
      return await circuit.send("INCRBY", send);
    },
    async check() {
      if (circuit.isOpen) return "Redis does not answer";
      try {
        // A server without memory and a replica answer, but refuse writes.
        await redis.set(valueKey("check"), "", "PX", CHECK_TTL_MS);
        return await clusterFault(redis);
      } catch (error) {
        const reason = refusalOf(error);
        return reason === undefined ? "Redis does not answer" : `Redis refuses commands: ${reason}`;
      }
    },
    async close() {
      circuit.end();
      redis.disconnect();
    },
  };
}
