import { timingSafeEqual } from "node:crypto";
import type { Sql } from "../db/client.ts";
import { CURSOR_MAX_CHARS } from "../domain/limits.ts";
import { Problem } from "../domain/problem/problem.ts";

const DIGEST_BYTES = 32;

/**
 * Turns positions into cursors that callers cannot forge, and back. A cursor contains its position,
 * so it survives restarts and is valid on every process of one database.
 */
export class CursorSigner {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /**
   * A cursor for a position, which is any JSON value. It opens with the same `binding` only, such
   * as the operation and the project.
   */
  seal(binding: string, position: unknown): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.#digest(binding, payload), payload]).toString("base64url");
  }

  /** The position of a cursor. Throws `invalid-cursor` for a malformed one or another binding. */
  open(binding: string, cursor: string): unknown {
    if (cursor.length > CURSOR_MAX_CHARS) throw new Problem("invalid-cursor");
    const bytes = Buffer.from(cursor, "base64url");
    const payload = bytes.subarray(DIGEST_BYTES);
    const digest = bytes.subarray(0, DIGEST_BYTES);
    const isGenuine =
      digest.length === DIGEST_BYTES && timingSafeEqual(digest, this.#digest(binding, payload));
    // Decoding is lenient, but every position has one spelling only.
    if (!isGenuine || bytes.toString("base64url") !== cursor) throw new Problem("invalid-cursor");
    return JSON.parse(payload.toString());
  }

  #digest(binding: string, payload: Uint8Array): Uint8Array {
    // The length separates binding and payload.
    return new Bun.CryptoHasher("sha256", this.#key)
      .update(`${Buffer.byteLength(binding)}:${binding}`)
      .update(payload)
      .digest();
  }
}

/** Reads the signing key that all processes of a database share, which a migration created. */
export async function openCursorSigner(sql: Sql): Promise<CursorSigner> {
  const [row] = await sql<{ secret: Uint8Array }[]>`
    SELECT secret FROM service_secrets WHERE name = 'cursor'`;
  if (row === undefined) throw new Error("the database has no key for cursors: run `migrate`");
  return new CursorSigner(row.secret);
}
