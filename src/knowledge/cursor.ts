import { type Static, Type } from "@sinclair/typebox";
import type { Coordinator } from "../coordination/coordinator.ts";
import { Problem } from "../problem/problem.ts";
import { validator } from "../problem/validate.ts";
import {
  LOOKUP_CURSOR_BYTES,
  LOOKUP_CURSOR_TTL_SECONDS,
  LOOKUP_LIMIT_MAX,
  LOOKUP_SHARDS_MAX,
} from "../shared/limits.ts";
import { LookupTarget } from "./schema.ts";

const orNull = <T extends typeof LookupTarget | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** What a lookup asks for. All pages of a cursor answer the same question. */
const LookupQuestion = Type.Object({
  projectId: Type.String(),
  target: orNull(LookupTarget),
  /** Null: browse. */
  query: orNull(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: LOOKUP_LIMIT_MAX }),
  shardIndex: Type.Integer({ minimum: 0, maximum: LOOKUP_SHARDS_MAX - 1 }),
  shardCount: Type.Integer({ minimum: 1, maximum: LOOKUP_SHARDS_MAX }),
});
export type LookupQuestion = Readonly<Static<typeof LookupQuestion>>;

/** What earlier pages of a lookup have returned. */
const LookupProgress = Type.Object({
  /** Search: hashes of the returned paths. */
  returned: Type.Array(Type.String()),
  /** Browse: the last returned path. */
  after: orNull(Type.String()),
});
export type LookupProgress = Readonly<Static<typeof LookupProgress>>;

const LookupState = Type.Object({ question: LookupQuestion, progress: LookupProgress });
export type LookupState = Readonly<Static<typeof LookupState>>;
const validState = validator(LookupState);

/** The state in a stored text. Redis is shared, so the text may be damaged. */
function parseState(text: string): LookupState {
  try {
    return validState(JSON.parse(text));
  } catch (cause) {
    throw new Problem("invalid-cursor", { cause });
  }
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
   * Throws `invalid-cursor` if the cursor is malformed, unknown, expired or of another project or its
   * state is damaged, or `dependency-unavailable`.
   */
  async load(cursor: string, projectId: string): Promise<LookupState> {
    const text = CURSOR_FORMAT.test(cursor)
      ? await this.#orUnavailable(this.coordinator.get(keyOf(cursor)))
      : null;
    if (text === null) throw new Problem("invalid-cursor");
    const state = parseState(text);
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
