import type { Sql } from "../../../db/client.ts";
import {
  type EmbedderAway,
  isAway,
  type ProjectEmbedder,
} from "../../../embed/embedders/project-embedders.ts";
import type { InTurn, Outcome } from "../../../embed/embedders/text-batches.ts";
import { Breaker, CircuitOpen } from "../../../ops/breaker.ts";
import type { Log } from "../../../ops/observability/log.ts";
import { FairSemaphore, SERIAL } from "../../../ops/tenants/fair-semaphore.ts";
import { whileClaimed } from "../claims.ts";
import { RebuildWithdrawn, rebuildEmbeddings } from "../rebuild.ts";
import { type RequestedRebuild, withClaimedRebuild } from "../rebuild-requests.ts";
import { readTextChunks, type TextChunk } from "../store.ts";
import {
  claim,
  extendClaim,
  release,
  store,
  type WaitingProject,
  waitingProjects,
} from "./queries.ts";
import { Turns } from "./turns.ts";

/** The time of a request; an embedder that takes longer gets smaller ones. */
const EMBED_BATCH_TIMEOUT_MS = 8_000;
/**
 * The first pause after a failure of the embedder, doubled up to the longest; and the longest pause that it may ask
 * for.
 */
const EMBED_AWAY_FIRST_MS = 500;
const EMBED_AWAY_LONGEST_MS = 5_000;
const EMBED_RETRY_AFTER_MAX_MS = 60_000;

/** Passes per request that the embedder takes at once. A tenant has the passes of its requests, so some are left. */
const PASSES_PER_REQUEST = 2;

/**
 * Embeds the waiting files of the projects of one embedder, in passes over some files of a project. A pass over long
 * texts takes many requests. Tenants take turns at the embedder request by request, and none has all passes. One project
 * at a time is embedded again.
 */
export class Drain {
  readonly #turns: Turns;
  readonly #requests: FairSemaphore;
  readonly #lanes = new Set<Promise<void>>();
  #isRebuilding = false;
  readonly #breaker: Breaker;

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    readonly embedder: ProjectEmbedder,
    /** A pool without a statement timeout, because one statement replaces all embeddings of a project. */
    private readonly unlimited: Sql,
  ) {
    const { concurrency } = embedder;
    this.#turns = new Turns(concurrency);
    this.#requests = new FairSemaphore({
      ...SERIAL,
      permits: concurrency,
      tenantPermits: concurrency,
    });
    const onChange = (isOpen: boolean, cause?: unknown) => {
      if (!isOpen) this.log.info(`the embedder ${embedder.name} answers again`);
      else this.log.warn(`${(cause as EmbedderAway).message}; files wait for their embeddings`);
    };
    this.#breaker = new Breaker({ pauseMs: pauseOf, onChange });
  }

  /** True while files are embedded. */
  get isRunning(): boolean {
    return this.#lanes.size > 0;
  }

  /** Resolves when no file is being embedded, and no waiting file can be. */
  async run(): Promise<void> {
    this.#openLane();
    this.#openRebuild();
    while (this.isRunning) await Promise.all(this.#lanes);
  }

  #openRebuild(): void {
    if (this.#isRebuilding) return;
    this.#isRebuilding = true;
    const lane = this.#runRebuilds().finally(() => {
      this.#isRebuilding = false;
      this.#lanes.delete(lane);
    });
    this.#lanes.add(lane);
  }

  /** Embeds projects again while some are to be. */
  async #runRebuilds(): Promise<void> {
    try {
      const { fingerprint } = this.embedder;
      while (!this.#breaker.isResting) {
        const wasClaimed = await withClaimedRebuild(this.sql, fingerprint, (rebuild) =>
          this.#rebuild(rebuild),
        );
        if (!wasClaimed) return;
      }
    } catch (err) {
      if (isAway(err) || err instanceof CircuitOpen || err instanceof RebuildWithdrawn) return;
      this.log.warn({ err }, "cannot embed a project again; retrying");
    }
  }

  async #rebuild({ id: project, tenant }: RequestedRebuild): Promise<void> {
    const listener = {
      onStart: (chunks: number, done: number) =>
        this.log.info({ project, chunks, done }, "embedding the chunks of a project again"),
      onRefused: (path: string, reason: string) =>
        this.log.warn({ project, path, reason }, "a chunk was not embedded"),
      onEmbedded() {},
      onAway() {},
    };
    // The breaker counts each request: a rebuild as a trial would keep all other files waiting for its end.
    await rebuildEmbeddings(this.unlimited, project, this.embedder, listener, (request) =>
      this.#requests.run(tenant, () => this.#breaker.call(request, isAway)),
    );
  }

  #openLane(): void {
    if (this.#lanes.size >= PASSES_PER_REQUEST * this.embedder.concurrency) return;
    const lane = this.#runLane().finally(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
  }

  async #runLane(): Promise<void> {
    try {
      while (await this.#embedNext());
    } catch (err) {
      this.log.warn({ err }, "cannot embed files; retrying");
    }
  }

  /** Makes one pass; false when no file can be embedded now. */
  async #embedNext(): Promise<boolean> {
    if (this.#breaker.isResting) return false;
    const waiting = await waitingProjects(this.sql, this.embedder.fingerprint);
    const project = this.#turns.choose(waiting);
    if (project === undefined) return false;
    const end = this.#turns.begin(project);
    // Other files may be embedded at the same time.
    this.#openLane();
    try {
      return await this.#embedSome(project);
    } finally {
      end();
    }
  }

  async #embedSome(project: WaitingProject): Promise<boolean> {
    const versions = await claim(this.sql, project.id);
    if (versions.length === 0) return true;
    const extend = () => extendClaim(this.sql, versions);
    const embed = () => this.#embed(project, versions);
    try {
      await whileClaimed(extend, () => this.#breaker.call(embed, isAway));
      return true;
    } catch (error) {
      if (!(isAway(error) || error instanceof CircuitOpen)) throw error;
      return false;
    } finally {
      await release(this.sql, versions).catch(() => {});
    }
  }

  /** Embeds the first chunks of files. Known outcomes are stored while other requests run. */
  async #embed({ id, tenant }: WaitingProject, versions: readonly string[]): Promise<void> {
    const { embedder, sql } = this;
    const chunks = await readTextChunks(sql, versions, embedder.batchInputs);
    const into = { id, fingerprint: embedder.fingerprint };
    const keep = async (from: number, outcomes: readonly Outcome[]) => {
      const [vectors, reasons] = [new Map<string, Float32Array>(), new Map<string, string>()];
      for (const [i, outcome] of outcomes.entries()) {
        const chunk = chunks[from + i] as TextChunk;
        this.#note(id, chunk, outcome);
        if ("reason" in outcome) reasons.set(chunk.id, outcome.reason);
        else vectors.set(chunk.id, outcome.vector);
      }
      await store(sql, into, versions, { vectors, reasons });
    };
    // Files without chunks leave the queue, too.
    if (chunks.length === 0) return await keep(0, []);
    const passages = chunks.map(({ passage }) => passage);
    const inTurn: InTurn = (request) => this.#requests.run(tenant, request);
    await embedder.embedPassages(passages, EMBED_BATCH_TIMEOUT_MS, keep, inTurn);
  }

  #note(project: string, { id: chunk }: TextChunk, outcome: Outcome): void {
    if ("reason" in outcome) {
      this.log.warn({ project, chunk, reason: outcome.reason }, "a chunk was not embedded");
    } else if (outcome.parts > 1) {
      const { parts } = outcome;
      this.log.info(
        { project, chunk, parts },
        "a chunk too long for its model is embedded in parts",
      );
    }
  }
}

/** The pause of an embedder after this number of failures in a row. */
function pauseOf(failures: number, cause: unknown): number {
  const { retryAfterMs = 0 } = cause as EmbedderAway;
  const backoff = Math.min(EMBED_AWAY_FIRST_MS * 2 ** (failures - 1), EMBED_AWAY_LONGEST_MS);
  return Math.max(backoff, Math.min(retryAfterMs, EMBED_RETRY_AFTER_MAX_MS));
}
