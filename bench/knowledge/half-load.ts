/**
 * Latencies at half of the rate that closed clients reach, alone and with a stream of writes, for each kind of query over
 * HTTP. The embedder is feature hashing.
 *
 *   bun bench/knowledge/half-load.ts [--folder FOLDER] [--documents 0] [--clients 8] [--seconds 20] [--writes 20]
 *
 * Documents are those of the folder, or assembled from them with `--documents`. The clients go first on the cores that
 * they share with the server, as on a machine of their own.
 */
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import type { Sent } from "../harness/load/sent.ts";
import { closed, open } from "../harness/load/streams.ts";
import { keyedRequest } from "../harness/requests.ts";
import {
  fill,
  OPTIONS as MODES,
  OPERATIONS,
  type OperationName,
  PROJECT,
  requestsOf,
} from "./modes.ts";

export const OPTIONS = {
  folder: MODES.folder,
  documents: MODES.documents,
  clients: 8,
  seconds: 20,
  writes: 20,
};
type Options = typeof OPTIONS;

/** The closed clients find the full rate in this share of the measured time. */
const FULL_RATE_SHARE = 0.25;
/** The size of a written file, about. */
const WRITE_BYTES = 2_000;
const FILES = 200;
/** Writes with different contents, so that none is that of a file already. */
const WRITES = 20 * FILES;
/**
 * The connections of the clients, as many as a pool has. With a thousand, a stall of the machine fills the queue of the
 * service, which holds refusals back for a second: the connections wait for refusals then, and the load never recovers.
 */
const CONNECTIONS = 64;

/** Writes of small files, each with another content than the one before. */
export const writesOf = ({ server, key }: Awaited<ReturnType<typeof fill>>): Uint8Array[] =>
  Array.from({ length: WRITES }, (_, i) => {
    const text = `# Written ${i}\n\n${`Sentence ${i} of a text. `.repeat(WRITE_BYTES / 24)}`;
    const path = `${PROJECT}/files/written-${i % FILES}.md`;
    return keyedRequest(server, "PUT", path, key, text, "text/markdown");
  });

export interface HalfLoad {
  readonly operation: OperationName;
  readonly rate: number;
  readonly alone: Sent;
  readonly withWrites: Sent;
}

export async function run(options: Options, context: BenchContext): Promise<HalfLoad[]> {
  const { clients, seconds, writes: writeRate } = options;
  const { out } = context;
  const filled = await fill(context, options);
  const { server } = filled;
  const payloads = requestsOf(filled);
  const [load, writer] = [new Load({ first: true }), new Load({ first: true })];
  const writes = open(writesOf(filled), writeRate);
  out.line(`${filled.documents} documents, ${writeRate} writes per second`);
  out.head(
    "",
    "rate, 1/s",
    "p50, ms",
    "p99, ms",
    "p99/p50",
    "refused",
    "p50, writes",
    "p99, writes",
    "p99/p50",
    "refused",
  );
  const results: HalfLoad[] = [];
  for (const operation of OPERATIONS) {
    const requests = payloads[operation];
    const fullSeconds = seconds * FULL_RATE_SHARE;
    const full = await load.run(server.url, fullSeconds, [closed(requests, clients)]);
    const rate = (full[0] as Sent).answered / fullSeconds / 2;
    const atHalf = async () =>
      (await load.run(server.url, seconds, [open(requests, rate, CONNECTIONS)]))[0] as Sent;
    const alone = await atHalf();
    const [withWrites] = await Promise.all([
      atHalf(),
      writer.run(server.url, seconds, [writes]),
    ] as const);
    const figures = [alone, withWrites].flatMap((sent) => {
      const [p50, p99] = [sent.quantile(0.5, "due"), sent.quantile(0.99, "due")];
      return [p50.toFixed(2), p99.toFixed(2), (p99 / p50).toFixed(1), `${sent.refused}`];
    });
    out.row(operation, rate.toFixed(0), ...figures);
    results.push({ operation, rate, alone, withWrites });
  }
  await server.stop();
  return results;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
