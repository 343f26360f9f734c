import { openDatabase } from "../../../src/db/client.ts";
import { type EngineServer, startEngineServer } from "./server.ts";

/** The database of the engine, which exists on every server of the cluster. */
const DATABASE = "vectors";
const WORKERS = 2;
const SETTINGS = { shared_preload_libraries: "citus" };

interface CitusCluster {
  /** The URL of the database on the coordinator. */
  readonly url: string;
  readonly workers: readonly EngineServer[];
}

async function prepare(server: EngineServer): Promise<void> {
  const admin = openDatabase(server.url("postgres"), { connections: 1, patience: "command" });
  await admin.unsafe(`CREATE DATABASE ${DATABASE}`);
  await admin.end();
  const sql = openDatabase(server.url(DATABASE), { connections: 1, statementTimeoutMs: 0 });
  await sql`CREATE EXTENSION citus`;
  await sql`CREATE EXTENSION vector`;
  await sql.end();
}

/** Starts a server that can become a worker. */
export async function startWorker(bin: string): Promise<EngineServer> {
  const server = await startEngineServer(bin, SETTINGS);
  await prepare(server);
  return server;
}

/** Starts a coordinator and workers of Citus. */
export async function startCitus(bin: string): Promise<CitusCluster> {
  const coordinator = await startWorker(bin);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker(bin)));
  const url = coordinator.url(DATABASE);
  const sql = openDatabase(url, { connections: 1, patience: "command" });
  await sql`SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port}::int)`;
  for (const { port } of workers) await sql`SELECT citus_add_node('127.0.0.1', ${port}::int)`;
  await sql.end();
  return { url, workers };
}
