import { ANSWER_PIECE_BYTES } from "../src/domain/limits.ts";
import type { EngineRequest, Reply } from "../src/engine/requests/request.ts";
import { run } from "../src/engine/requests/run.ts";
import { warmUp } from "../src/engine/requests/warm-up.ts";
import { setThreadNiceness } from "../src/ops/thread-priority.ts";

/** The niceness of search workers, relative to the main thread. */
const SEARCH_WORKER_NICENESS = 10;

// Under overload the main thread must not wait for a core, because it refuses requests, and accepted ones wait for it.
setThreadNiceness(SEARCH_WORKER_NICENESS);
warmUp();

/**
 * Moves the bytes of large replies, because copies would occupy memory until both threads collect garbage. The pool's
 * library is loaded for the first of them, because loading it takes a third of the start of a worker.
 */
function withLargeMoved(replies: Reply[]): unknown {
  const large = replies.flatMap((reply) =>
    reply.status === "answered" && reply.json.length > ANSWER_PIECE_BYTES
      ? [reply.json.buffer]
      : [],
  );
  if (large.length === 0) return replies;
  return import("piscina").then(({ move, transferableSymbol, valueSymbol }) =>
    move({ [transferableSymbol]: large, [valueSymbol]: replies }),
  );
}

/**
 * The entry point of a worker: answers a batch, so that under load several requests share the cost of one message. A
 * request that fails does not affect the others.
 *
 * @returns a reply per request
 */
export default function runAll(batch: ReadonlyArray<EngineRequest>): unknown {
  return withLargeMoved(batch.map(run));
}
