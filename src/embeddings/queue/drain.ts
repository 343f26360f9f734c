import type { Sql } from "../../db/client.ts";
import type { Passage } from "../../import/embedders/embedder.ts";
import {
  EmbedderAway,
  type ProjectEmbedder,
  TextsRefused,
} from "../../import/embedders/project-embedders.ts";
import type { Log } from "../../observability/log.ts";
import { EMBED_BATCH_CHARS, EMBED_BATCH_INPUTS } from "../../shared/limits.ts";
import { readTextChunks, type TextChunk } from "../store.ts";
import { claim, release, store, type WaitingProject, waitingProjects } from "./queries.ts";

/** Requests that one process sends to an embedder at once. */
const EMBED_LANES = 4;
/** An embedder that takes longer for a batch gets smaller ones. */
const EMBED_BATCH_TIMEOUT_MS = 8_000;
/** The pause of an embedder that is away, doubled up to the longest; and the longest that it may ask for. */
const EMBED_AWAY_FIRST_MS = 500;
const EMBED_AWAY_LONGEST_MS = 5_000;
const EMBED_RETRY_AFTER_MAX_MS = 60_000;
/** Tenants and projects whose last turns are remembered. */
const EMBED_TURNS_MAX = 10_000;

/** Embeds the waiting files of the projects of one embedder. */
export class Drain {
  /** When each tenant and project had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #running: Promise<void> | undefined;
  #awayUntil = 0;
  #failures = 0;
  #batchInputs = EMBED_BATCH_INPUTS;

  constructor(
    private readonly sql: Sql,
    private readonly log: Log,
    private readonly embedder: ProjectEmbedder,
  ) {}

  /** Resolves when nothing waits that could be embedded now. */
  run(): Promise<void> {
    this.#running ??= this.#runLanes().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #runLanes(): Promise<void> {
    const lane = async () => {
      while (await this.#embedNext());
    };
    const lanes = await Promise.allSettled(Array.from({ length: EMBED_LANES }, lane));
    const failed = lanes.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") {
      this.log.warn({ err: failed.reason }, "cannot embed files; retrying");
    }
  }

  /** Embeds one batch; false when nothing can be embedded now. */
  async #embedNext(): Promise<boolean> {
    if (performance.now() < this.#awayUntil) return false;
    const project = this.#choose(await waitingProjects(this.sql, this.embedder.fingerprint));
    if (project === undefined) return false;
    const versions = await claim(this.sql, project);
    if (versions.length === 0) return true;
    try {
      await this.#embed(project, versions);
      this.#answered();
      return true;
    } catch (error) {
      await release(this.sql, versions).catch(() => {});
      if (!(error instanceof EmbedderAway)) throw error;
      this.#isAway(error);
      return false;
    }
  }

  async #embed(project: string, versions: readonly string[]): Promise<void> {
    const { embedder, sql } = this;
    const chunks = bounded(await readTextChunks(sql, versions, this.#batchInputs));
    try {
      const vectors = await this.#embedPassages(chunks.map(({ passage }) => passage));
      const byChunk = new Map(chunks.map(({ id }, i) => [id, vectors[i] as Float32Array]));
      await store(sql, { id: project, fingerprint: embedder.fingerprint }, versions, byChunk);
    } catch (error) {
      if (!(error instanceof TextsRefused)) throw error;
      const [first = "", ...others] = versions;
      // One file alone shows whether it is the one that is refused.
      if (others.length > 0) {
        for (const version of versions) await this.#embed(project, [version]);
        return;
      }
      this.log.warn({ project, version: first, reason: error.message }, "a file was not embedded");
      await release(sql, versions, true);
    }
  }

  async #embedPassages(passages: readonly Passage[]): Promise<Float32Array[]> {
    if (passages.length === 0) return [];
    return await this.embedder.embedPassages(passages, EMBED_BATCH_TIMEOUT_MS);
  }

  /** The project whose turn it is: tenants take turns, and each tenant's projects. */
  #choose(projects: readonly WaitingProject[]): string | undefined {
    const last = (id: string) => this.#turns.get(id) ?? 0;
    const [next] = [...projects].sort(
      (a, b) => last(a.tenant) - last(b.tenant) || last(a.id) - last(b.id),
    );
    if (next === undefined) return undefined;
    if (this.#turns.size > EMBED_TURNS_MAX) this.#turns.clear();
    this.#turn++;
    this.#turns.set(next.tenant, this.#turn).set(next.id, this.#turn);
    return next.id;
  }

  #answered(): void {
    if (this.#failures > 0) this.log.info(`the embedder ${this.embedder.name} answers again`);
    this.#failures = 0;
    this.#batchInputs = Math.min(EMBED_BATCH_INPUTS, this.#batchInputs * 2);
  }

  #isAway({ message, retryAfterMs = 0, tooSlow }: EmbedderAway): void {
    if (this.#failures === 0) this.log.warn(`${message}; files wait for their embeddings`);
    const backoff = Math.min(EMBED_AWAY_FIRST_MS * 2 ** this.#failures++, EMBED_AWAY_LONGEST_MS);
    const pause = Math.max(backoff, Math.min(retryAfterMs, EMBED_RETRY_AFTER_MAX_MS));
    this.#awayUntil = performance.now() + pause;
    if (tooSlow) this.#batchInputs = Math.max(1, Math.floor(this.#batchInputs / 2));
  }
}

/** As many of the chunks as one request may have; one at least. */
function bounded(chunks: readonly TextChunk[]): readonly TextChunk[] {
  let chars = 0;
  const end = chunks.findIndex(({ passage }, i) => {
    chars += passage.content.length;
    return i > 0 && chars > EMBED_BATCH_CHARS;
  });
  return end < 0 ? chunks : chunks.slice(0, end);
}
