import pTimeout from "p-timeout";
import { INDEX_REPORTS_CHANNEL } from "../../../db/channels.ts";
import { openDatabase, type Sql } from "../../../db/client.ts";
import {
  INDEX_HEARTBEAT_INTERVAL_MS,
  INDEX_HOUSEKEEPING_INTERVAL_MS,
  INDEX_REPORT_INTERVAL_MS,
  INDEX_STOP_QUERY_TIMEOUT_MS,
  VECTOR_CLEAN_INTERVAL_MS,
  VECTOR_LEADER_CHECK_MS,
} from "../../../domain/limits.ts";
import { ChangeLog } from "../../../index/changes/change-log.ts";
import { IndexReports } from "../../../index/changes/index-state.ts";
import { listenForVersions } from "../../../index/changes/new-versions.ts";
import { createVersionReader } from "../../../index/versions/reader.ts";
import { createLog, type Log } from "../../../ops/observability/log.ts";
import { LogLimiter } from "../../../ops/observability/log-limiter.ts";
import { runPeriodically } from "../../../ops/observability/periodic.ts";
import { SingleFlight } from "../../../ops/single-flight.ts";
import { GRAPH_SETTINGS, hasCitus } from "../open-schema.ts";
import { LEADER_LOCK, SCHEMA } from "../tables.ts";
import { Maintenance } from "./maintenance.ts";
import type { ReplicatorOptions, ReplicatorReport } from "./messages.ts";
import { ReplicatedProjects } from "./replicated-projects.ts";
import { whileLeading } from "./store.ts";
import { readReport, readTables } from "./vector-state.ts";

const VECTOR_REPLICATOR_CONNECTIONS = 6;
const NAME = "tessera-vectors";

/** Waits to lead, then fills the engine's database until another node leads or it is stopped. */
export class ReplicatorThread {
  readonly #source: Sql;
  readonly #sql: Sql;
  readonly #patient: Sql;
  readonly #lock: Sql;
  readonly #log: Log;
  readonly #changes: ChangeLog;
  readonly #leadership: Leadership;
  readonly #reports: IndexReports;
  /** Reports the tables of the leader. Concurrent requests share a report. */
  readonly #beats = new SingleFlight(() => this.#beat());
  #projects: ReplicatedProjects | undefined;
  #maintenance: Maintenance | undefined;
  #isLost = false;
  #stopping = false;
  #ended: Promise<void> | undefined;

  constructor(
    options: ReplicatorOptions,
    private readonly post: (report: ReplicatorReport) => void,
  ) {
    const { databaseUrl, vectorDatabaseUrl } = options;
    const background = { applicationName: NAME, patience: "background" } as const;
    this.#log = createLog(options.logLevel);
    this.#source = openDatabase(databaseUrl, {
      ...background,
      connections: VECTOR_REPLICATOR_CONNECTIONS,
    });
    // The calibration searches, too.
    this.#sql = openDatabase(vectorDatabaseUrl, {
      ...background,
      connections: VECTOR_REPLICATOR_CONNECTIONS,
      settings: GRAPH_SETTINGS,
    });
    const one = { applicationName: NAME, connections: 1 } as const;
    this.#patient = openDatabase(vectorDatabaseUrl, { ...one, statementTimeoutMs: 0 });
    this.#lock = openDatabase(vectorDatabaseUrl, { ...one, patience: "background" });
    this.#changes = new ChangeLog(this.#source);
    this.#leadership = new Leadership(this.#lock, this.#log);
    this.#reports = new IndexReports(this.#source);
  }

  start(): void {
    this.#every(INDEX_REPORT_INTERVAL_MS, "reading the state of the vectors", () => this.#report());
    this.#every(INDEX_HEARTBEAT_INTERVAL_MS, "the heartbeat of the vectors", () =>
      this.#beats.run(),
    );
    this.#source
      .listen(INDEX_REPORTS_CHANNEL, (at) => {
        this.#reports.answer(Number(at) || 0);
        this.#beats.run().catch(() => {});
      })
      .catch(() => {});
    this.#maintain(INDEX_HOUSEKEEPING_INTERVAL_MS, "building codes and graphs", (it) => it.build());
    this.#maintain(VECTOR_CLEAN_INTERVAL_MS, "removing vectors", (it) => it.clean());
    listenForVersions(this.#source, this.#log, (projectId, versions) => {
      this.#projects?.announce(projectId, versions);
    });
    this.#ended = this.#lead();
  }

  /** Ends the term and closes the databases, without waiting for a database that does not answer. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const limit = { milliseconds: INDEX_STOP_QUERY_TIMEOUT_MS, message: false } as const;
    await pTimeout(this.#ended ?? Promise.resolve(), { ...limit, milliseconds: 1_000 });
    await pTimeout(
      this.#reports.clear().catch(() => {}),
      limit,
    );
    const pools = [this.#source, this.#sql, this.#patient, this.#lock];
    await pTimeout(Promise.all(pools.map((pool) => pool.end({ timeout: 0 }))), limit);
  }

  async #lead(): Promise<void> {
    const failures = new LogLimiter();
    while (!this.#stopping) {
      try {
        const epoch = await this.#leadership.claim();
        if (epoch !== undefined) await this.#term(epoch);
      } catch (err) {
        failures.limited("term", () => this.#log.warn({ err }, "cannot write vectors; retrying"));
      }
      await Bun.sleep(VECTOR_LEADER_CHECK_MS);
    }
  }

  /** One term as the leader. */
  async #term(epoch: number): Promise<void> {
    const sql = this.#sql;
    const layout = { epoch, distributed: await hasCitus(sql) };
    const sources = {
      source: this.#source,
      sql,
      changes: this.#changes,
      log: this.#log,
      reader: createVersionReader(this.#source, true),
    };
    this.#isLost = false;
    const projects = new ReplicatedProjects(sources, layout, () => {
      this.#isLost = true;
    });
    try {
      await projects.start();
      this.#projects = projects;
      this.#maintenance = new Maintenance(projects, sql, this.#patient, this.#log);
      await this.#leadership.held(() => this.#stopping || this.#isLost);
    } finally {
      this.#projects = undefined;
      this.#maintenance = undefined;
      await projects.stop();
      await this.#leadership.release().catch(() => {});
    }
  }

  async #beat(): Promise<void> {
    if (this.#projects === undefined) return;
    const { seq } = this.#projects;
    await this.#reports.write(await readTables(this.#sql, this.#projects), seq);
  }

  async #report(): Promise<void> {
    this.post(await readReport(this.#sql, this.#changes));
  }

  #maintain(interval: number, task: string, work: (it: Maintenance) => Promise<void>): void {
    this.#every(interval, task, async () => {
      const maintenance = this.#maintenance;
      if (maintenance === undefined) return;
      if (!(await whileLeading(() => work(maintenance)))) this.#isLost = true;
    });
  }

  #every(intervalMs: number, task: string, work: () => Promise<unknown>): void {
    const isStopping = () => this.#stopping;
    runPeriodically({ task, intervalMs, log: this.#log, isStopping }, work);
  }
}

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
class Leadership {
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
