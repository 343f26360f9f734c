import type { Sql } from "../../db/client.ts";
import type { Log } from "../../observability/log.ts";
import { VECTOR_LEADER_CHECK_MS } from "../../shared/limits.ts";
import { LEADER_LOCK, SCHEMA } from "../tables.ts";

interface Term {
  /** Only this number may write. */
  readonly epoch: number;
  /** Process id of the server's session that holds the lock. */
  readonly session: number;
}

/**
 * Elects one node that writes vectors. The lock elects quickly: when its holder dies, the next node gets it
 * immediately. Correctness does not depend on the lock, because every write checks the epoch.
 */
export class Leadership {
  #term: Term | undefined;

  /** @param sql a pool of one connection, which holds the lock */
  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
  ) {}

  /** The number of this node's term; undefined while another node leads. */
  async claim(): Promise<number | undefined> {
    const [row] = await this.sql<{ won: boolean; session: number }[]>`
      SELECT pg_try_advisory_lock(${LEADER_LOCK[0]}, ${LEADER_LOCK[1]}) AS won, pg_backend_pid() AS session`;
    if (!row?.won) return undefined;
    const epoch = await this.#nextEpoch();
    this.#term = { epoch, session: row.session };
    this.log.info({ epoch }, "this node writes the vectors");
    return epoch;
  }

  /** Resolves when the session that holds the lock has ended, or `stopped` is true. */
  async held(stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      await Bun.sleep(VECTOR_LEADER_CHECK_MS);
      const [row] = await this.sql<{ session: number }[]>`SELECT pg_backend_pid() AS session`;
      if (row?.session !== this.#term?.session) return;
    }
  }

  async #nextEpoch(): Promise<number> {
    return (await this.sql.begin(async (tx) => {
      // Waits for transactions of the former leader, which hold a weaker lock of this row.
      await tx`SELECT 1 FROM ${tx(SCHEMA)}.state FOR UPDATE`;
      const [state] = await tx<{ epoch: string }[]>`
        UPDATE ${tx(SCHEMA)}.state SET epoch = epoch + 1 RETURNING epoch`;
      return Number(state?.epoch);
    })) as number;
  }

  /** Lets another node lead. */
  async release(): Promise<void> {
    await this.sql`SELECT pg_advisory_unlock_all()`;
  }
}
