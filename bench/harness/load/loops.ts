/** How requests arrive. */
export type Arrival =
  | {
      /** Each client sends its next request when the last one was answered. */
      readonly kind: "closed";
      readonly clients: number;
      /** Between an answer and the next request. */
      readonly pauseMs?: number;
    }
  | {
      /** Requests start at a constant rate per second, whether or not earlier ones were answered. */
      readonly kind: "open";
      readonly rate: number;
      /** Requests above this many unanswered ones wait, and their wait counts. */
      readonly connections: number;
    };

/** How a request ended: its HTTP status, or a word for one without an answer. */
export type Ending = number | "timeout" | "closed";

/** Sends the requests of a loop. */
export interface Sender {
  /** Sends the next request; the latency counts from `intended`. Resolves when it has ended. */
  send(intended?: number): Promise<Ending>;
  /** The number of requests under way. */
  readonly busy: number;
}

/** Pause of a client after a connection was refused or closed. */
const CLOSED_PAUSE_MS = 10;

export async function closedLoop(
  sender: Pick<Sender, "send">,
  { clients, pauseMs = 0 }: { clients: number; pauseMs?: number },
  isOver: () => boolean,
): Promise<void> {
  const run = async () => {
    while (!isOver()) {
      // A service that refuses connections would keep this loop from ever yielding.
      const pause = (await sender.send()) === "closed" ? CLOSED_PAUSE_MS : 0;
      if (pause + pauseMs > 0) await Bun.sleep(pause + pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, run));
}

/**
 * Starts requests on schedule. A request that finds no free connection waits for one; its latency
 * counts from its place in the schedule, so a stalled service shows in every request that came
 * during the stall, and not just in those that it held. Returns the number of requests that were still
 * waiting for a connection at `giveUpAt`, and were never sent.
 */
export async function openLoop(
  sender: Sender,
  { rate, connections: most }: { rate: number; connections: number },
  start: number,
  end: number,
  giveUpAt = Number.POSITIVE_INFINITY,
): Promise<number> {
  const running = new Set<Promise<Ending>>();
  const intervalMs = 1_000 / rate;
  let begun = 0;
  const intendedOf = (number: number) => start + number * intervalMs;
  const total = Math.ceil((end - start) / intervalMs);
  while (begun < total && performance.now() < giveUpAt) {
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
  return total - begun;
}
