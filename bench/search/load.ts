/**
 * Closed-loop clients on raw keep-alive sockets, in a process of their own: each sends a ready-made
 * request, waits for the whole answer, and sends the next. Told what to do by one message, answers
 * with one message.
 */
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
  /** Milliseconds, one a request, in no particular order. */
  readonly latencies: Float64Array;
  /** Answers with another status than 200. */
  readonly failures: number;
}

const HEADER_END = Buffer.from("\r\n\r\n");

/** Bytes of a whole response, or undefined while its head has not come completely. */
function responseLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1];
  return end + HEADER_END.length + Number(length ?? 0);
}

/** Runs the clients until all requests are answered. */
export async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const { hostname, port, clients, requests, payloads } = order;
  const latencies = new Float64Array(requests);
  let sent = 0;
  let answered = 0;
  let failures = 0;
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  const startedAt = performance.now();

  async function client(): Promise<void> {
    let received = Buffer.alloc(0);
    let startedOneAt = 0;
    let unsent: Uint8Array | undefined;
    const socket = await Bun.connect({
      hostname,
      port,
      socket: {
        drain: () => push(),
        data(_, bytes) {
          received = received.length === 0 ? Buffer.from(bytes) : Buffer.concat([received, bytes]);
          const length = responseLength(received);
          if (length === undefined || received.length < length) return;
          latencies[answered++] = performance.now() - startedOneAt;
          if (!received.toString("latin1", 0, 12).endsWith("200")) failures++;
          received = Buffer.alloc(0);
          if (answered === requests) resolve();
          next();
        },
        error: (_, error) => reject(error),
        close: () => {
          if (answered < requests) reject(new Error("the server closed a connection"));
        },
      },
    });
    function push(): void {
      if (unsent === undefined) return;
      const written = socket.write(unsent);
      unsent = written < unsent.length ? unsent.subarray(written) : undefined;
    }
    function next(): void {
      if (sent === requests) return;
      unsent = payloads[sent++ % payloads.length] as Uint8Array;
      startedOneAt = performance.now();
      push();
    }
    next();
  }

  await Promise.all(Array.from({ length: clients }, client));
  await finished;
  return { seconds: (performance.now() - startedAt) / 1000, latencies, failures };
}

if (import.meta.main) {
  process.on("message", async (order: LoadOrder) => {
    process.send?.(await runLoad(order));
  });
}
