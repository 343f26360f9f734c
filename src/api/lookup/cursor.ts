import { type Static, Type } from "@sinclair/typebox";
import type { Coordinator } from "../../coordination/coordinator.ts";
import { Problem } from "../../problem/problem.ts";
import { validator } from "../../problem/validate.ts";
import {
  LOOKUP_CURSOR_TTL_SECONDS,
  LOOKUP_LIMIT_MAX,
  LOOKUP_SHARDS_MAX,
} from "../../shared/limits.ts";
import { LookupTarget } from "./schema.ts";

/** Random bytes in a cursor, which names the state that the service keeps for it. */
const LOOKUP_CURSOR_BYTES = 18;

const orNull = <T extends typeof LookupTarget | ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** What a lookup asks for. All pages of a cursor answer the same question. */
const LookupQuestion = Type.Object({
  projectId: Type.String(),
  target: orNull(LookupTarget),
  /** Null: browse. */
  query: orNull(Type.String()),
  /** The checked filter as canonical JSON text. Absent without one. */
  filter: Type.Optional(Type.String()),
  limit: Type.Integer({ minimum: 1, maximum: LOOKUP_LIMIT_MAX }),
  shardIndex: Type.Integer({ minimum: 0, maximum: LOOKUP_SHARDS_MAX - 1 }),
  shardCount: Type.Integer({ minimum: 1, maximum: LOOKUP_SHARDS_MAX }),
});
export type LookupQuestion = Readonly<Static<typeof LookupQuestion>>;

const LookupState = Type.Object({
  question: LookupQuestion,
  /** What earlier pages have returned, as the text core states it. */
  progress: Type.String(),
});
export type LookupState = Readonly<Static<typeof LookupState>>;
const validState = validator(LookupState);

/** The state in a stored text; null if it is damaged, which it may be because Redis is shared. */
function parseState(text: string): LookupState | null {
  try {
    return validState(JSON.parse(text));
  } catch {
    return null;
  }
}

const CURSOR_FORMAT = /^[A-Za-z0-9_-]{24}$/;
const keyOf = (cursor: string) => `lookup:${cursor}`;

/**
 * A cursor is a random key. The coordinator keeps its state for `LOOKUP_CURSOR_TTL_SECONDS`.
 */
export class LookupCursors {
  constructor(private readonly coordinator: Coordinator) {}

  /** A cursor for a state that may be saved later. */
  newCursor(): string {
    const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(LOOKUP_CURSOR_BYTES)));
    return bytes.toString("base64url");
  }

  /** Saves the state of a cursor. Throws `dependency-unavailable`. */
  async save(cursor: string, state: LookupState): Promise<void> {
    await this.#orUnavailable(
      this.coordinator.put(keyOf(cursor), JSON.stringify(state), LOOKUP_CURSOR_TTL_SECONDS),
    );
  }

  /**
   * Null if the cursor is malformed, unknown or expired or its state is damaged. Throws
   * `dependency-unavailable`.
   */
  async load(cursor: string): Promise<LookupState | null> {
    if (!CURSOR_FORMAT.test(cursor)) return null;
    const text = await this.#orUnavailable(this.coordinator.get(keyOf(cursor)));
    return text === null ? null : parseState(text);
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
