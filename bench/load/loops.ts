import { RawClient } from "../../support/raw-client.ts";
import { type Ending, type Recorded, Recorder } from "./recorder.ts";

/** How requests arrive. */
export type Arrival =
  | {
      /** Each client sends its next request when the last one was answered. */
      readonly kind: "closed";
      readonly clients: number;
    }
  | {
      /** Requests start at a constant rate per second, whether or not earlier ones were answered. */
      readonly kind: "open";
      readonly rate: number;
      /** Requests above this many unanswered ones wait, and their wait counts. */
      readonly connections: number;
    };

export interface LoadPlan {
  readonly url: URL;
  /** Whole HTTP requests, taken in turn. */
  readonly requests: readonly Uint8Array[];
  readonly arrival: Arrival;
  readonly seconds: number;
  /** The beginning, which is not counted. */
  readonly warmUpSeconds: number;
  /** A request that is not answered within this time is given up. */
  readonly timeoutMs: number;
  /** Called about ten times per second. */
  readonly onTick?: (elapsedSeconds: number, answered: number) => void;
  /** Called when the counted window begins and when it ends. */
  readonly onEdge?: (edge: "begin" | "end") => Promise<void> | void;
}

const TICK_MS = 100;
/** Pause of a client after a connection was refused or closed. */
const CLOSED_PAUSE_MS = 10;

/** Sends the requests of a loop. */
export interface Sender {
  /** Sends the next request; the latency counts from `intended`. Resolves when it has ended. */
  send(intended?: number): Promise<Ending>;
  /** The number of requests under way. */
  readonly busy: number;
}

/** Connections of one run. Gives up requests that take too long. */
class Connections implements Sender {
  readonly #sentAt = new Map<RawClient, number>();
  readonly #idle: RawClient[] = [];
  #next = 0;

  constructor(
    private readonly plan: LoadPlan,
    private readonly recorder: Recorder,
  ) {}

  async send(intended?: number): Promise<Ending> {
    const { requests, url, timeoutMs } = this.plan;
    const client = this.#idle.pop() ?? new RawClient(url);
    const request = requests[this.#next++ % requests.length] as Uint8Array;
    const sentAt = performance.now();
    this.#sentAt.set(client, sentAt);
    const { status } = await client.send(request);
    this.#sentAt.delete(client);
    this.#idle.push(client);
    const endedAt = performance.now();
    const ending: Ending =
      status !== 0 ? status : endedAt - sentAt >= timeoutMs ? "timeout" : "closed";
    this.recorder.add(intended ?? sentAt, sentAt, endedAt, ending);
    return ending;
  }

  get busy(): number {
    return this.#sentAt.size;
  }

  abortOverdue(): void {
    const before = performance.now() - this.plan.timeoutMs;
    for (const [client, sentAt] of this.#sentAt) if (sentAt <= before) client.abort();
  }

  close(): void {
    for (const client of this.#idle) client.close();
  }
}

export async function closedLoop(sender: Sender, clients: number, end: number): Promise<void> {
  const run = async () => {
    while (performance.now() < end) {
      // A service that refuses connections would keep this loop from ever yielding.
      if ((await sender.send()) === "closed") await Bun.sleep(CLOSED_PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: clients }, run));
}

/**
 * Starts requests on schedule. A request that finds no free connection waits for one; its latency
 * counts from its place in the schedule, so a stalled service shows in every request that came
 * during the stall, and not just in those that it held.
 */
export async function openLoop(
  sender: Sender,
  { rate, connections: most }: { rate: number; connections: number },
  start: number,
  end: number,
): Promise<void> {
  const running = new Set<Promise<Ending>>();
  const intervalMs = 1_000 / rate;
  let begun = 0;
  const intendedOf = (number: number) => start + number * intervalMs;
  const total = Math.ceil((end - start) / intervalMs);
  while (begun < total) {
    const now = performance.now();
    while (begun < total && intendedOf(begun) <= now && sender.busy < most) {
      const request = sender.send(intendedOf(begun++));
      running.add(request);
      void request.then(() => running.delete(request));
    }
    const isLate = begun < total && intendedOf(begun) <= now;
    if (isLate) await Promise.race(running);
    else await Bun.sleep(1);
  }
  await Promise.all(running);
}

/** Sends requests and returns what was recorded. */
export async function runLoad(plan: LoadPlan): Promise<Recorded> {
  const start = performance.now();
  const from = start + plan.warmUpSeconds * 1_000;
  const end = from + plan.seconds * 1_000;
  const recorder = new Recorder(from, end);
  const connections = new Connections(plan, recorder);
  const timer = setInterval(() => {
    connections.abortOverdue();
    plan.onTick?.((performance.now() - start) / 1_000, recorder.answered);
  }, TICK_MS);
  const edges = Promise.all([
    Bun.sleep(plan.warmUpSeconds * 1_000).then(() => plan.onEdge?.("begin")),
    Bun.sleep((plan.warmUpSeconds + plan.seconds) * 1_000).then(() => plan.onEdge?.("end")),
  ]);
  const { arrival } = plan;
  if (arrival.kind === "closed") await closedLoop(connections, arrival.clients, end);
  else await openLoop(connections, arrival, start, end);
  await edges;
  clearInterval(timer);
  connections.close();
  return recorder.result();
}
