import { availableParallelism } from "node:os";
import {
  DATABASE_PLACES_MAX,
  GATE_WAITING_MAX,
  REQUESTS_MAX_BYTES,
  TURN_STARTS_MAX,
} from "../../domain/limits.ts";
import { Budget } from "../../ops/tenants/budget.ts";
import { FairSemaphore } from "../../ops/tenants/fair-semaphore.ts";

/**
 * Operations on the database that may be under way, by cores and at most. One tenant alone has half, and leaves
 * connections for others; more would take the cores of a database on this machine from everybody's searches.
 */
const DATABASE_PERMITS_PER_CORE = 3;
const DATABASE_PERMITS = Math.min(
  DATABASE_PERMITS_PER_CORE * availableParallelism(),
  DATABASE_PLACES_MAX,
);

/** A body that is being read, or an answer that is being sent. */
interface Transfer {
  /** Ends it, because another tenant needs its memory. */
  giveUp(): void;
}

/**
 * The gates that requests pass, so that no tenant keeps others from being answered. `test/long/api/overload.test.ts`
 * fails without each of the first two.
 */
export interface Gates {
  /**
   * For the requests that start in a turn of the event loop: one tenant cannot take all of a turn. Without it, others wait for
   * all connections of a flood of documents, unknown paths or refused credentials.
   */
  readonly starts: FairSemaphore;
  /**
   * The bytes of bodies that are being read and of large answers that are being sent: nobody takes the memory of all by
   * sending bodies slowly, or by asking for much and reading none of it.
   */
  readonly memory: Budget<Transfer>;
  /**
   * For an operation on the database until it is answered: one tenant cannot have all connections. Without it, others
   * wait for all connections of a flood of lists, and a flood of writes has them refused.
   */
  readonly database: FairSemaphore;
  /**
   * The engine has a queue of its own, and tells whose further requests it would refuse. Without it nobody waits
   * longer, but refusing costs two to three times as much (bench/overload).
   */
  readonly engine: { refuses(tenant: string): boolean };
}

export function openGates(
  engine: Gates["engine"],
  { databasePermits = DATABASE_PERMITS, maxBytes = REQUESTS_MAX_BYTES } = {},
): Gates {
  const maxWaiting = GATE_WAITING_MAX;
  return {
    starts: new FairSemaphore({ permits: TURN_STARTS_MAX, maxWaiting, freeAfterMs: 0 }),
    memory: new Budget(maxBytes, (_, oldest) => oldest.giveUp()),
    database: new FairSemaphore({ permits: databasePermits, maxWaiting }),
    engine,
  };
}
