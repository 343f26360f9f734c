import { HASHING } from "../../config/embedders.ts";
import type { Sql } from "../../db/client.ts";
import { readUnembedded } from "../../embeddings/queue/queries.ts";
import type { Engine } from "../../engine/engine.ts";
import type {
  ProjectEmbedder,
  ProjectEmbedders,
} from "../../import/embedders/project-embedders.ts";
import { Problem } from "../../problem/problem.ts";
import { SharedWork } from "../../shared/shared-work.ts";
import { TenantTurns } from "../../tenants/tenant-turns.ts";
import type { Written } from "./change-file.ts";

/** Texts that a user has written and searches do not show: about a second of cutting, embedding and indexing. */
export const UNSEEN_MAX_BYTES = 2_097_152;
/** A short text counts for so much, because storing it takes as long. */
const UNSEEN_TEXT_MIN_BYTES = 16_384;
/** A text that has been read waits no longer for those before it. */
const UNSEEN_WAIT_MAX_MS = 10_000;
/** A text counts no longer while no text gets its embeddings or is shown: what does it may be away. */
const UNSEEN_COUNTS_MAX_MS = 30_000;
/** How often texts are looked for that have their embeddings. */
const UNSEEN_POLL_MS = 50;

const BEHIND = {
  detail:
    "Other files of this user are stored first, and shown by searches. Send fewer at once, or import them.",
  headers: { "retry-after": "1" },
} as const;

interface UnseenServices {
  readonly sql: Sql;
  readonly engine: Pick<Engine, "noteChange" | "whenApplied">;
  readonly embedders: ProjectEmbedders;
}

/** Waits until a text of so many bytes may be stored. Throws `overloaded`. */
export type Admit = (bytes: number) => Promise<void>;

const NEVER = new AbortController().signal;

/**
 * Bounds what users have written and searches do not show yet, so that a flood of writes leaves no more work behind
 * than that. Further writes of the user wait.
 */
export class UnseenWrites {
  readonly #turns = new TenantTurns({ places: UNSEEN_MAX_BYTES, waitMaxMs: UNSEEN_WAIT_MAX_MS });
  /** The versions that may wait for their embeddings. */
  readonly #versions = new Set<string>();
  readonly #looks: SharedWork<Awaited<ReturnType<typeof readUnembedded>>>;
  /** When one of them was last found to have its embeddings. */
  #embeddedAt = 0;

  constructor(
    private readonly services: UnseenServices,
    private readonly countsMaxMs = UNSEEN_COUNTS_MAX_MS,
  ) {
    const { sql, embedders } = services;
    // Texts may wait for other embedders for hours, and cost this service little meanwhile.
    const { fingerprint } = embedders.get(HASHING) as ProjectEmbedder;
    this.#looks = new SharedWork(() => readUnembedded(sql, [...this.#versions], fingerprint));
  }

  /** Does a write, which has its text admitted. That counts until searches show it. */
  async during(
    tenant: string,
    signal: AbortSignal,
    write: (admit: Admit) => Promise<Written>,
  ): Promise<Written> {
    let isOver = false;
    let end = () => {
      isOver = true;
    };
    const admit = async (bytes: number) => {
      const cost = Math.max(bytes, UNSEEN_TEXT_MIN_BYTES);
      const leave = await this.#turns.take(tenant, { cost, signal });
      if (leave === undefined) throw new Problem("overloaded", BEHIND);
      if (isOver) leave();
      else end = leave;
    };
    try {
      const written = await write(admit);
      void this.#untilSeen(written)
        .catch(() => {})
        .finally(() => end());
      return written;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Resolves when searches of this process show a file. */
  async #untilSeen({ projectId, file }: Written): Promise<void> {
    const { engine } = this.services;
    const version = file.version_id;
    const writtenAt = performance.now();
    this.#versions.add(version);
    try {
      for (let waited = false; ; waited = true) {
        // A database that does not answer shows nothing either.
        const look = await this.#looks.run().catch(() => undefined);
        if (look?.waiting.has(version) === false) {
          if (waited) this.#embeddedAt = performance.now();
          engine.noteChange(look.seq);
          const change = { projectId, seq: look.seq, timeoutMs: this.countsMaxMs, signal: NEVER };
          return void (await engine.whenApplied(change, "vectors"));
        }
        // A machine that is busy embeds slowly, and is not asked for more meanwhile.
        const since = Math.max(writtenAt, this.#embeddedAt);
        if (performance.now() > since + this.countsMaxMs) return;
        await Bun.sleep(UNSEEN_POLL_MS);
      }
    } finally {
      this.#versions.delete(version);
    }
  }
}
