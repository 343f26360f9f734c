import postgres from "postgres";
import { DB_PROBE_TIMEOUT_MS } from "../../domain/limits.ts";
import { Breaker } from "../../ops/breaker.ts";
import { sessionOf } from "../session/session.ts";
import { PoolSockets } from "./pool-sockets.ts";

/** The unit in which deadlines are checked. */
const DB_GUARD_TICK_MS = 50;
/** The pause between probes; the first one that is answered ends the outage. */
const DB_PROBE_INTERVAL_MS = 300;
/** A statement that does not end within this time of its cancellation has lost its connection. */
const DB_CANCEL_TIMEOUT_MS = 1_000;
/** States in which a server answers but is starting or shutting down. */
const STOPPED_STATES = /^57P0/;

/** A query, or a transaction as a whole, for which a caller waits. */
interface Waiting {
  /** Infinity for none. */
  readonly deadlineMs: number;
  /** Rejects the caller's promise. */
  fail(): void;
  /** Asks the server to stop, when it answers but this takes too long. */
  cancel?(): void;
}

interface Watched extends Waiting {
  readonly since: number;
  /** The tick of the deadline, after which the driver still waits. */
  failedAt: number | undefined;
  cancelled: boolean;
}

interface GuardOptions {
  readonly url: string;
  /** Silence of the server, in milliseconds, after which it is probed while a caller waits. */
  readonly suspectMs: number;
  /** Time of failing probes, in milliseconds, after which the database counts as unavailable. */
  readonly patienceMs: number;
  /** Called at the beginning and the end of an outage. */
  readonly onChange: (isDown: boolean) => void;
}

const ticks = (ms: number) => Math.ceil(ms / DB_GUARD_TICK_MS);

/**
 * Bounds how long callers wait for the database, and breaks the circuit while it does not answer.
 *
 * When nothing arrives from the server for a while, a probe over a new connection decides: if the server answers it, it
 * is only slow, and each caller waits until its own deadline. Otherwise all callers are rejected, the pool's
 * connections are closed, and statements are rejected without being sent until a probe is answered. Time is counted in
 * ticks of the event loop, so that a process that was itself suspended does not blame the database.
 */
export class OutageGuard {
  readonly sockets = new PoolSockets();
  readonly #watched = new Set<Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #tick = 0;
  /** The last tick at which the server was known to answer. */
  #answeredAt = 0;
  #probe: { readonly probe: Probe; readonly since: number } | undefined;
  /** Probes are its calls. */
  readonly #breaker: Breaker;
  #outage: { readonly ended: Promise<void>; readonly end: () => void } | undefined;
  #closed = false;

  constructor(private readonly options: GuardOptions) {
    const { patienceMs } = options;
    this.#breaker = new Breaker({
      pauseMs: DB_PROBE_INTERVAL_MS,
      patienceMs,
      now: () => this.#tick * DB_GUARD_TICK_MS,
      onChange: (isDown) => (isDown ? this.#beginOutage() : this.#endOutage()),
    });
  }

  /** True while statements are rejected without being sent. */
  get isDown(): boolean {
    return this.#outage !== undefined;
  }

  /** Resolves when connections may be opened. */
  async reachable(): Promise<void> {
    await this.#outage?.ended;
  }

  /** Watches until the returned function is called. */
  watch(waiting: Waiting): () => void {
    if (this.#watched.size === 0) this.#start();
    const state = { since: this.#tick, failedAt: undefined, cancelled: false };
    const watched: Watched = Object.assign(waiting, state);
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#probe?.probe.stop();
    this.#outage?.end();
    this.#outage = undefined;
  }

  #start(): void {
    if (this.#timer !== undefined || this.#closed) return;
    // Without traffic the server had no occasion to answer, so its silence is not suspicious.
    this.#answeredAt = this.#tick;
    this.#timer = setInterval(() => this.#look(), DB_GUARD_TICK_MS);
    this.#timer.unref();
  }

  #look(): void {
    this.#tick++;
    if (this.sockets.look()) this.#answeredAt = this.#tick;
    for (const watched of this.#watched) this.#check(watched);
    this.#checkProbe();
    if (this.#isSuspicious()) this.#startProbe();
    if (this.#watched.size > 0 || this.isDown || this.#probe !== undefined) return;
    this.#breaker.close();
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(watched: Watched): void {
    if (watched.failedAt === undefined) {
      if (this.#tick - watched.since < ticks(watched.deadlineMs)) return;
      watched.failedAt = this.#tick;
      watched.fail();
    } else if (this.#answeredAt > watched.failedAt) {
      // The server answers, so it can stop the statement. If that does not help, the connection is dead.
      if (!watched.cancelled) watched.cancel?.();
      watched.cancelled = true;
      if (this.#tick - watched.failedAt < ticks(DB_CANCEL_TIMEOUT_MS)) return;
      this.#watched.delete(watched);
      this.sockets.closeSilent(ticks(DB_CANCEL_TIMEOUT_MS));
    }
  }

  #isSuspicious(): boolean {
    if (this.#probe !== undefined || this.#breaker.isResting) return false;
    if (this.#breaker.isFailing) return true;
    const limit = this.#tick - ticks(this.options.suspectMs);
    if (this.#answeredAt > limit) return false;
    for (const { since } of this.#watched) if (since <= limit) return true;
    return false;
  }

  #startProbe(): void {
    const probe = startProbe(this.options.url);
    this.#probe = { probe, since: this.#tick };
    const answer = probe.answer.then((isAlive) => {
      this.#probe = undefined;
      if (!isAlive) throw new NoAnswer("NEVER_SENT");
      this.#answeredAt = this.#tick;
    });
    this.#breaker.call(() => answer).catch(() => {});
  }

  #checkProbe(): void {
    if (this.#probe === undefined) return;
    if (this.#tick - this.#probe.since < ticks(DB_PROBE_TIMEOUT_MS)) return;
    this.#probe.probe.stop();
  }

  #beginOutage(): void {
    if (this.#closed) return;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#outage = { ended, end };
    for (const watched of this.#watched) if (watched.failedAt === undefined) watched.fail();
    this.#watched.clear();
    this.sockets.closeSilent(0);
    this.options.onChange(true);
  }

  #endOutage(): void {
    if (this.#outage === undefined) return;
    this.#outage.end();
    this.#outage = undefined;
    this.options.onChange(false);
  }
}

interface Probe {
  /** True when the server has answered, even with an error. */
  readonly answer: Promise<boolean>;
  /** Ends the probe; `answer` then settles. */
  stop(): void;
}

/** Asks the server for a sign of life, over a connection of its own. */
function startProbe(url: string): Probe {
  const sockets = new PoolSockets();
  const session = sessionOf(url);
  const sql = postgres(session.url, {
    ...(session.path === undefined ? {} : { path: session.path }),
    max: 1,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { ...session.parameters, application_name: "tessera-probe" },
    socket: (address: Parameters<PoolSockets["connect"]>[0]) => sockets.connect(address),
  } as postgres.Options<Record<string, never>>);
  const answer = sql`SELECT 1`.then(
    () => true,
    (error: unknown) => {
      const isAnswer = error instanceof postgres.PostgresError;
      return isAnswer && !STOPPED_STATES.test(error.code);
    },
  );
  void answer.finally(() => sql.end({ timeout: 0 }));
  return { answer, stop: () => sockets.closeSilent(0) };
}

/**
 * The database did not answer in time. `NEVER_SENT` when the statement certainly did not reach the
 * server; after `NO_ANSWER` a write may have taken effect.
 */
export class NoAnswer extends Error {
  constructor(readonly code: "NO_ANSWER" | "NEVER_SENT") {
    super(
      code === "NO_ANSWER"
        ? "the database did not answer in time"
        : "the statement was not sent, because the database does not answer",
    );
    this.name = "NoAnswer";
  }
}
