import pRetry from "p-retry";
import type { Sql } from "../../../db/client.ts";
import { setOnWorkers } from "../open-schema.ts";
import { REBALANCE_LOCK, SCHEMA } from "../tables.ts";
import type { Move, ShardGroup } from "./plan-moves.ts";

const MOVE_RETRIES = 5;
const MOVE_RETRY_MS = 2_000;
const NOT_PERMITTED = "42501";

/** A server that Citus gives placements to. */
interface Worker {
  /** `host:port`. */
  readonly name: string;
  readonly active: boolean;
}

export async function readWorkers(sql: Sql): Promise<Worker[]> {
  return await sql<Worker[]>`
    SELECT nodename || ':' || nodeport AS name, isactive AS active FROM pg_dist_node
    WHERE shouldhaveshards AND noderole = 'primary' ORDER BY 1`;
}

/** The placements of all copies that are not about to be dropped. */
export async function readGroups(sql: Sql): Promise<ShardGroup[]> {
  return await sql<ShardGroup[]>`
    SELECT min(s.shardid)::text AS "shardId", c.id AS "copyId",
      s.nodename || ':' || s.nodeport AS worker, sum(s.shard_size)::float8 AS bytes
    FROM citus_shards s JOIN pg_dist_shard d ON d.shardid = s.shardid
      JOIN pg_class t ON t.oid = s.table_name AND t.relnamespace = ${SCHEMA}::regnamespace
      JOIN ${sql(SCHEMA)}.copies c
        ON t.relname ~ ('^[csv]_' || replace(c.id::text, '-', '')) AND c.state <> 'retired'
    GROUP BY c.id, d.shardminvalue, s.nodename, s.nodeport ORDER BY 2, 1`;
}

/** Adds a worker unless Citus has it. The databases have the same name. */
export async function addWorker(sql: Sql, host: string, port: number): Promise<void> {
  await sql`SELECT citus_add_node(${host}, ${port}::int)`;
  await setOnWorkers(sql);
}

/**
 * Lets only this session move placements. `wait` is called when another session moves some. That may be the session of
 * an interrupted command, whose move ends within a second.
 * @param sql a pool of one connection
 */
export async function lockMoves(sql: Sql, wait: () => void): Promise<void> {
  await sql`SET client_connection_check_interval = '1s'`;
  const [first, second] = REBALANCE_LOCK;
  const [row] = await sql<{ locked: boolean }[]>`
    SELECT pg_try_advisory_lock(${first}, ${second}) AS locked`;
  if (row?.locked === true) return;
  wait();
  await sql`SELECT pg_advisory_lock(${first}, ${second})`;
}

/** The mode of moving shards: writes continue until the end of a move, or wait for all of it. */
export type TransferMode = "force_logical" | "block_writes";

/** The mode that the settings of all workers allow. */
export async function transferMode(sql: Sql): Promise<TransferMode> {
  const rows = await sql<{ result: string }[]>`
    SELECT result FROM run_command_on_workers('SHOW wal_level')`;
  return rows.every(({ result }) => result === "logical") ? "force_logical" : "block_writes";
}

function addressOf(worker: string): [host: string, port: number] {
  const at = worker.lastIndexOf(":");
  return [worker.slice(0, at), Number(worker.slice(at + 1))];
}

/**
 * Moves the shards of a placement. Searches read the old shards until the new ones are complete. A move fails if a
 * write holds a lock, or if the move before it was interrupted. It is then cleaned up and retried a few times.
 */
export async function moveGroup(sql: Sql, move: Move, mode: TransferMode): Promise<void> {
  await pRetry(() => moveOnce(sql, move, mode), {
    retries: MOVE_RETRIES,
    factor: 1,
    minTimeout: MOVE_RETRY_MS,
    shouldRetry: ({ error }) => (error as { code?: string }).code !== NOT_PERMITTED,
    onFailedAttempt: async () => {
      await sql`CALL citus_cleanup_orphaned_resources()`.catch(() => {});
    },
  });
}

async function moveOnce(sql: Sql, { group, to }: Move, mode: TransferMode): Promise<void> {
  const [source, sourcePort] = addressOf(group.worker);
  const [target, targetPort] = addressOf(to);
  await sql`
    SELECT citus_move_shard_placement(${group.shardId}::bigint, ${source}, ${sourcePort}::int,
      ${target}, ${targetPort}::int, shard_transfer_mode => ${mode}::text::citus.shard_transfer_mode)`;
}
