import type { Coordinator } from "../coordination/coordinator.ts";
import { Problem } from "../problem/problem.ts";
import { LOOKUP_CURSOR_BYTES, LOOKUP_CURSOR_TTL_SECONDS } from "../shared/limits.ts";
import type { LookupTarget } from "./schema.ts";

/** What a lookup asks for. All pages of a cursor answer the same question. */
export interface LookupQuestion {
  readonly projectId: string;
  readonly target: LookupTarget | null;
  /** Null: browse. */
  readonly query: string | null;
  readonly limit: number;
  readonly shardIndex: number;
  readonly shardCount: number;
}

/** What earlier pages of a lookup have returned. */
export interface LookupProgress {
  /** Search: hashes of the returned paths. */
  readonly returned: readonly string[];
  /** Browse: the last returned path. */
  readonly after: string | null;
}

export interface LookupState {
  readonly question: LookupQuestion;
  readonly progress: LookupProgress;
}

const CURSOR_FORMAT = /^[A-Za-z0-9_-]{24}$/;
const keyOf = (cursor: string) => `lookup:${cursor}`;

/**
 * A cursor is a random key. The coordinator keeps its state for `LOOKUP_CURSOR_TTL_SECONDS`.
 */
export class LookupCursors {
  constructor(private readonly coordinator: Coordinator) {}

  /** Saves the state and returns its cursor. Throws `dependency-unavailable`. */
  async save(state: LookupState): Promise<string> {
    const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(LOOKUP_CURSOR_BYTES)));
    const cursor = bytes.toString("base64url");
    await this.#orUnavailable(
      this.coordinator.put(keyOf(cursor), JSON.stringify(state), LOOKUP_CURSOR_TTL_SECONDS),
    );
    return cursor;
  }

  /**
   * Throws `invalid-cursor` if the cursor is malformed, unknown, expired or of another project, or
   * `dependency-unavailable`.
   */
  async load(cursor: string, projectId: string): Promise<LookupState> {
    const text = CURSOR_FORMAT.test(cursor)
      ? await this.#orUnavailable(this.coordinator.get(keyOf(cursor)))
      : null;
    if (text === null) throw new Problem("invalid-cursor");
    const state = JSON.parse(text) as LookupState;
    if (state.question.projectId !== projectId) throw new Problem("invalid-cursor");
    return state;
  }

  async #orUnavailable<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      const detail = "The server that stores cursors does not answer.";
      throw new Problem("dependency-unavailable", { detail, cause });
    }
  }
}
