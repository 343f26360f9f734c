/** The clients of the benchmark, in a process of their own: sends streams of requests at once. */
import { RawClient } from "../../support/raw-client.ts";

/** Requests of one user. */
export interface Stream {
  /** Whole HTTP requests, taken in turn. */
  readonly payloads: readonly Uint8Array[];
  /** Closed loop: as many clients, each of which sends when the last request was answered. */
  readonly clients?: number;
  /** Open loop: requests per second, whether or not earlier ones were answered. */
  readonly rate?: number;
}

export interface LoadOrder {
  readonly url: string;
  readonly seconds: number;
  /** The beginning, which is not counted. */
  readonly warmUpSeconds: number;
  readonly streams: readonly Stream[];
}

export interface StreamResult {
  /** Milliseconds of the requests that succeeded. */
  readonly latencies: Float64Array;
  readonly answered: number;
  /** Answered with 503. */
  readonly refused: number;
  /** Not answered, or with another status. */
  readonly failed: number;
  /** Requests that the open loop could not send, because too many were unanswered. */
  readonly unsent: number;
}

const CONNECTIONS_MAX = 6_000;

class Tally {
  readonly latencies: number[] = [];
  refused = 0;
  failed = 0;
  unsent = 0;

  constructor(
    private readonly from: number,
    private readonly end: number,
  ) {}

  get counts(): boolean {
    const now = performance.now();
    return now >= this.from && now < this.end;
  }

  add(status: number, milliseconds: number): void {
    if (!this.counts) return;
    if (status >= 200 && status < 300) this.latencies.push(milliseconds);
    else if (status === 503) this.refused++;
    else this.failed++;
  }

  get result(): StreamResult {
    const { latencies, refused, failed, unsent } = this;
    const answered = latencies.length;
    return { latencies: Float64Array.from(latencies), answered, refused, failed, unsent };
  }
}

async function closedLoop(url: URL, stream: Stream, end: number, tally: Tally): Promise<void> {
  let next = 0;
  const run = async () => {
    const client = new RawClient(url);
    while (performance.now() < end) {
      const payload = stream.payloads[next++ % stream.payloads.length] as Uint8Array;
      const { status, milliseconds } = await client.send(payload);
      tally.add(status, milliseconds);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: stream.clients as number }, run));
}

async function openLoop(url: URL, stream: Stream, end: number, tally: Tally): Promise<void> {
  const idle: RawClient[] = [];
  const running = new Set<Promise<void>>();
  let connections = 0;
  let sent = 0;
  const startedAt = performance.now();
  const sendOne = async (client: RawClient) => {
    const payload = stream.payloads[sent % stream.payloads.length] as Uint8Array;
    const { status, milliseconds } = await client.send(payload);
    tally.add(status, milliseconds);
    idle.push(client);
  };
  for (let now = startedAt; now < end; now = performance.now()) {
    for (const due = ((now - startedAt) / 1_000) * (stream.rate as number); sent < due; sent++) {
      const client = idle.pop() ?? (connections < CONNECTIONS_MAX ? new RawClient(url) : undefined);
      if (client === undefined) {
        if (tally.counts) tally.unsent++;
        continue;
      }
      if (idle.length === 0) connections = Math.max(connections, running.size + 1);
      const request = sendOne(client);
      running.add(request);
      void request.then(() => running.delete(request));
    }
    await Bun.sleep(1);
  }
  await Promise.all(running);
  for (const client of idle) client.close();
}

async function runOrder(order: LoadOrder): Promise<StreamResult[]> {
  const url = new URL(order.url);
  const from = performance.now() + order.warmUpSeconds * 1_000;
  const end = from + order.seconds * 1_000;
  return await Promise.all(
    order.streams.map(async (stream) => {
      const tally = new Tally(from, end);
      const loop = stream.rate === undefined ? closedLoop : openLoop;
      await loop(url, stream, end, tally);
      return tally.result;
    }),
  );
}

process.on("message", async (order: LoadOrder) => {
  process.send?.(await runOrder(order));
});
