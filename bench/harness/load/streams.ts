import { RawClient } from "../../../support/raw-client.ts";
import { type Arrival, closedLoop, type Ending, openLoop, type Sender } from "./loops.ts";

/** The requests of one user: for a time, up to a number, or until a condition holds. */
export interface Plan {
  readonly arrival: Arrival;
  /** The time in which requests are due; without end by default. */
  readonly seconds?: number;
  /** The number of requests after which a closed loop ends. */
  readonly count?: number;
  /** A closed loop ends when this is true. */
  readonly isOver?: () => boolean;
  /** A request that is not answered within this time is given up. */
  readonly timeoutMs?: number;
  /** True for an open loop that drops the requests that still wait for a connection at its end. */
  readonly givesUp?: boolean;
}

/** A plan with whole HTTP requests, which are taken in turn. */
export interface Stream extends Plan {
  readonly requests: readonly Uint8Array[];
}

/** The maximum number of requests without an answer: usual limits allow 1,024 open files. */
const CONNECTIONS_MAX = 1_000;

/** Requests at a rate per second, whether or not earlier ones were answered. */
export function open(
  requests: readonly Uint8Array[],
  rate: number,
  connections = CONNECTIONS_MAX,
): Stream {
  return { requests, arrival: { kind: "open", rate, connections } };
}

/** A number of clients, each of which sends its next request when its last one was answered. */
export function closed(requests: readonly Uint8Array[], clients: number): Stream {
  return { requests, arrival: { kind: "closed", clients } };
}

/** Hears of each request when it has ended. All times are of `performance.now()`. */
export type Listener = (intended: number, sent: number, ended: number, ending: Ending) => void;

const TIMEOUT_MS = 120_000;
const TICK_MS = 100;

/** Connections of one stream. Gives up requests that take too long. */
class Connections implements Sender {
  readonly #sentAt = new Map<RawClient, number>();
  readonly #idle: RawClient[] = [];
  begun = 0;

  constructor(
    private readonly url: URL,
    private readonly next: () => Uint8Array,
    private readonly listener: Listener,
    private readonly timeoutMs: number,
  ) {}

  async send(intended?: number): Promise<Ending> {
    const client = this.#idle.pop() ?? new RawClient(this.url);
    this.begun++;
    const sentAt = performance.now();
    this.#sentAt.set(client, sentAt);
    const { status } = await client.send(this.next());
    this.#sentAt.delete(client);
    this.#idle.push(client);
    const endedAt = performance.now();
    const ending: Ending =
      status !== 0 ? status : endedAt - sentAt >= this.timeoutMs ? "timeout" : "closed";
    this.listener(intended ?? sentAt, sentAt, endedAt, ending);
    return ending;
  }

  get busy(): number {
    return this.#sentAt.size;
  }

  abortOverdue(): void {
    const before = performance.now() - this.timeoutMs;
    for (const [client, sentAt] of this.#sentAt) if (sentAt <= before) client.abort();
  }

  close(): void {
    for (const client of this.#idle) client.close();
  }
}

/** Sends requests from now on. Returns the number of those that were due and never sent. */
export async function sendAll(
  url: URL,
  plan: Plan,
  next: () => Uint8Array,
  listener: Listener,
): Promise<number> {
  const { arrival, seconds = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY } = plan;
  const start = performance.now();
  const end = start + seconds * 1_000;
  const connections = new Connections(url, next, listener, plan.timeoutMs ?? TIMEOUT_MS);
  const timer = setInterval(() => connections.abortOverdue(), TICK_MS);
  let unsent = 0;
  if (arrival.kind === "closed") {
    const isOver = () =>
      performance.now() >= end || connections.begun >= count || plan.isOver?.() === true;
    await closedLoop(connections, arrival, isOver);
  } else {
    unsent = await openLoop(connections, arrival, start, end, plan.givesUp ? end : undefined);
  }
  clearInterval(timer);
  connections.close();
  return unsent;
}

/** Takes the requests of a stream in turn. */
export function inTurn(requests: readonly Uint8Array[]): () => Uint8Array {
  let taken = 0;
  return () => requests[taken++ % requests.length] as Uint8Array;
}
