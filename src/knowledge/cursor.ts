import type { Coordinator } from "../coordination/coordinator.ts";
import { Problem } from "../problem/problem.ts";
import { LOOKUP_CURSOR_BYTES, LOOKUP_CURSOR_TTL_SECONDS } from "../shared/limits.ts";
import type { LookupTarget } from "./schema.ts";

/** What a lookup asks for; a cursor goes on with exactly this. */
export interface LookupQuestion {
  readonly projectId: string;
  readonly target: LookupTarget | null;
  /** Null browses. */
  readonly query: string | null;
  readonly limit: number;
  readonly shardIndex: number;
  readonly shardCount: number;
}

/** How far a lookup has come. */
export interface LookupProgress {
  readonly returned: readonly string[];
  readonly after: string | null;
}

export interface LookupState {
  readonly question: LookupQuestion;
  readonly progress: LookupProgress;
}

const FORM = /^[A-Za-z0-9_-]{24}$/;
const keyOf = (cursor: string) => `lookup:${cursor}`;

/** Cursors are random names; what they stand for is kept for a quarter of an hour. */
export class LookupCursors {
  constructor(private readonly coordinator: Coordinator) {}

  async seal(state: LookupState): Promise<string> {
    const cursor = Buffer.from(crypto.getRandomValues(new Uint8Array(LOOKUP_CURSOR_BYTES)));
    const name = cursor.toString("base64url");
    await this.#reach(
      this.coordinator.put(keyOf(name), JSON.stringify(state), LOOKUP_CURSOR_TTL_SECONDS),
    );
    return name;
  }

  /** Throws `invalid-cursor` when it is malformed, unknown, expired or of another project. */
  async open(cursor: string, projectId: string): Promise<LookupState> {
    const text = FORM.test(cursor) ? await this.#reach(this.coordinator.get(keyOf(cursor))) : null;
    if (text === null) throw new Problem("invalid-cursor");
    const state = JSON.parse(text) as LookupState;
    if (state.question.projectId !== projectId) throw new Problem("invalid-cursor");
    return state;
  }

  async #reach<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      const detail = "The server that keeps cursors does not answer.";
      throw new Problem("dependency-unavailable", { detail, cause });
    }
  }
}
