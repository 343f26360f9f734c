import { Problem } from "../../problem/problem.ts";
import { decompressed, type Encoding } from "../../shared/compression/decompressed.ts";
import {
  IMPORT_EXPANSION_FREE_BYTES,
  IMPORT_EXPANSION_MAX,
  IMPORT_REFUSED_MAX,
} from "../../shared/limits.ts";

/** The rest of the body is not read, so the connection cannot be used again. */
const headers = { connection: "close" };

interface Upload {
  readonly encoding: Encoding;
  readonly maxBytes: number;
  /** Throws once the client has disconnected. */
  readonly requireClient: () => void;
}

/**
 * The decompressed bytes of an upload. A few bytes can expand to any number of them, so the expansion is bounded by the
 * bytes that have arrived, and the client must still be connected. An upload that cannot be decompressed counts as
 * broken off. Throws `payload-too-large` and `validation-failed`.
 */
export async function* expanded(
  input: AsyncIterable<Uint8Array>,
  { encoding, maxBytes, requireClient }: Upload,
): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of input) {
      arrived += piece.byteLength;
      if (arrived > maxBytes) throw tooLarge(maxBytes);
      yield piece;
    }
  }
  let bytes = 0;
  try {
    for await (const piece of decompressed(encoding, counted())) {
      requireClient();
      bytes += piece.byteLength;
      const most = IMPORT_EXPANSION_FREE_BYTES + arrived * IMPORT_EXPANSION_MAX;
      if (bytes > maxBytes || (encoding !== "identity" && bytes > most)) {
        throw tooLarge(maxBytes);
      }
      yield piece;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw refused(`The body is not complete ${encoding}: ${(error as Error).message}.`);
  }
}

function tooLarge(maxBytes: number): Problem {
  const detail =
    `The records must have at most ${maxBytes} bytes, compressed or not, and at most ` +
    `${IMPORT_EXPANSION_MAX} times the bytes of the compressed body.`;
  return new Problem("payload-too-large", { detail, headers });
}

const refused = (detail: string) => new Problem("validation-failed", { detail, headers });

/** Ends an import that has refused more lines than a mistake explains. */
export function requireSense(refusals: number): void {
  if (refusals <= IMPORT_REFUSED_MAX) return;
  throw refused(`More than ${IMPORT_REFUSED_MAX} lines are refused, so the import has stopped.`);
}
