/** The program of `LoadGenerator`: receives one order per message and answers with the result. */
import { exchange } from "./connection.ts";

export interface LoadOrder {
  readonly hostname: string;
  readonly port: number;
  readonly clients: number;
  readonly requests: number;
  /** Whole HTTP requests, taken in turn. */
  readonly payloads: readonly Uint8Array[];
}

export interface LoadResult {
  readonly seconds: number;
  /** Milliseconds per request, in no particular order. */
  readonly latencies: Float64Array;
}

async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const { hostname, port, clients, requests, payloads } = order;
  const latencies = new Float64Array(requests);
  let sent = 0;
  let answered = 0;
  const next = () => (sent < requests ? payloads[sent++ % payloads.length] : undefined);
  const onAnswer = (milliseconds: number) => {
    latencies[answered++] = milliseconds;
  };
  const started = performance.now();
  const connect = () => exchange({ hostname, port, next, onAnswer });
  await Promise.all(Array.from({ length: clients }, connect));
  return { seconds: (performance.now() - started) / 1000, latencies };
}

process.on("message", async (order: LoadOrder) => {
  process.send?.(await runLoad(order));
});
