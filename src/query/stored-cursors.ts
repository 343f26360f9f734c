import type { Static, TSchema } from "@sinclair/typebox";
import type { Coordinator } from "../db/coordination/coordinator.ts";
import { Problem } from "../domain/problem/problem.ts";
import { validator } from "../domain/problem/validate.ts";

const LOOKUP_CURSOR_TTL_SECONDS = 900;
/** Random bytes in a cursor, which names the state that the service keeps for it. */
const CURSOR_BYTES = 18;

const CURSOR_FORMAT = /^[A-Za-z0-9_-]{24}$/;

/**
 * A cursor is a random key. The coordinator keeps its state for `LOOKUP_CURSOR_TTL_SECONDS`.
 */
export class StoredCursors<State extends TSchema> {
  readonly #validState: (value: unknown) => Static<State>;

  /** @param kind name of the questions; cursors of one kind are unknown to the others */
  constructor(
    private readonly coordinator: Coordinator,
    private readonly kind: string,
    state: State,
  ) {
    this.#validState = validator(state);
  }

  /** A cursor for a state that may be saved later. */
  newCursor(): string {
    const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(CURSOR_BYTES)));
    return bytes.toString("base64url");
  }

  /**
   * Saves the state of a cursor. Returns false if that is impossible at present; the page then lacks this cursor.
   *
   * @param owner the user whose space for cursors it takes
   */
  async save(cursor: string, state: Static<State>, owner: string): Promise<boolean> {
    const lifetime = { owner, ttlSeconds: LOOKUP_CURSOR_TTL_SECONDS };
    try {
      await this.coordinator.put(this.#keyOf(cursor), JSON.stringify(state), lifetime);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.slug === "dependency-unavailable") return false;
      throw error;
    }
  }

  /**
   * Null if the cursor is malformed, unknown or expired or its state is damaged. Throws
   * `dependency-unavailable`.
   */
  async load(cursor: string): Promise<Static<State> | null> {
    if (!CURSOR_FORMAT.test(cursor)) return null;
    const text = await this.#read(cursor);
    if (text === null) return null;
    try {
      return this.#validState(JSON.parse(text));
    } catch {
      // Redis is shared, so a state may be damaged.
      return null;
    }
  }

  #keyOf(cursor: string): string {
    return `${this.kind}:${cursor}`;
  }

  async #read(cursor: string): Promise<string | null> {
    try {
      return await this.coordinator.get(this.#keyOf(cursor));
    } catch (cause) {
      const detail = "The server that stores cursors does not answer.";
      throw new Problem("dependency-unavailable", { detail, cause });
    }
  }
}
