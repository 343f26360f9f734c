import type { Sql } from "../../db/client.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { ProjectEmbedder, ProjectEmbedders } from "../../embed/embedders/project-embedders.ts";
import type { Engine } from "../../engine/engine.ts";
import { HASHING } from "../../ops/config/embedders.ts";
import { FairSemaphore, type Release, SERIAL } from "../../ops/tenants/fair-semaphore.ts";
import { within } from "../../ops/within.ts";
import { AwaitedEmbeddings } from "../embeddings/queue/awaited.ts";
import type { Written } from "./change-file.ts";

/** Maximum bytes of a user's texts that searches do not show yet: about a second of cutting, embedding and indexing. */
export const UNINDEXED_MAX_BYTES = 2_097_152;
/** Minimum cost of a text, in bytes, because storing a shorter one takes as long. */
const UNINDEXED_TEXT_MIN_BYTES = 16_384;
/** Maximum wait of a text behind those before it. */
const UNINDEXED_WAIT_MAX_MS = 10_000;
/**
 * Maximum time for which a text counts while no text gets its embeddings or is shown. The embedder or the indexer may
 * be away.
 */
const UNINDEXED_COUNTS_MAX_MS = 30_000;

const BEHIND = new Problem("overloaded", {
  detail:
    "Other files of this user are stored first, and shown by searches. Send fewer at once, or import them.",
  headers: { "retry-after": "1" },
});

interface WaitServices {
  readonly sql: Sql;
  readonly engine: Pick<Engine, "waitFor">;
  readonly embedders: ProjectEmbedders;
}

/**
 * Bounds the bytes that users have written and searches do not show yet, so that a flood of writes leaves a bounded
 * backlog. Further writes of the user wait.
 */
export class UnindexedWrites {
  readonly #bytes = new FairSemaphore({
    ...SERIAL,
    tenantPermits: UNINDEXED_MAX_BYTES,
    waitMaxMs: UNINDEXED_WAIT_MAX_MS,
    late: BEHIND,
  });
  readonly #embeddings: AwaitedEmbeddings;
  /** Texts may wait for other embedders for hours, and cost this service little meanwhile. */
  readonly #embedder: string;
  /** When a text was last found to have its embeddings. */
  #embeddedAt = 0;

  constructor(
    private readonly services: WaitServices,
    private readonly countsMaxMs = UNINDEXED_COUNTS_MAX_MS,
  ) {
    this.#embeddings = new AwaitedEmbeddings(services.sql);
    this.#embedder = (services.embedders.get(HASHING) as ProjectEmbedder).fingerprint;
  }

  /** Waits until a text of the user may be stored, which counts until the returned function is called. Throws `overloaded`. */
  admit(user: string, bytes: number, signal: AbortSignal): Promise<Release> {
    return this.#bytes.lease(user, { cost: Math.max(bytes, UNINDEXED_TEXT_MIN_BYTES), signal });
  }

  /** Resolves when searches of this process show a file, or nobody can tell. */
  untilIndexed(written: Written): Promise<void> {
    return this.#untilIndexed(written).catch(() => {});
  }

  async #untilIndexed({ projectId }: Written): Promise<void> {
    const writtenAt = performance.now();
    let waited = false;
    const seq = await this.#embeddings.position(projectId, {
      embedder: this.#embedder,
      isOver: () => {
        waited = true;
        // A busy machine embeds slowly, so each embedded text restarts the limit.
        return performance.now() > Math.max(writtenAt, this.#embeddedAt) + this.countsMaxMs;
      },
    });
    if (seq === undefined) return;
    if (waited) this.#embeddedAt = performance.now();
    await within(this.countsMaxMs, (signal) =>
      this.services.engine.waitFor({ projectId, seq, read: "vectors", signal }),
    );
  }
}
