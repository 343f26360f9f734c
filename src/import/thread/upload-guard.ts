import { decompressed, type Encoding } from "../../shared/compression/decompressed.ts";
import {
  IMPORT_EXPANSION_FREE_BYTES,
  IMPORT_EXPANSION_MAX,
  IMPORT_REFUSED_MAX,
} from "../../shared/limits.ts";
import { ImportError } from "../records/errors.ts";

/** The input is larger than allowed. */
export class InputTooLarge extends ImportError {}

/** The import has stopped because of what the input is. The message is meant for the caller. */
export class InputRefused extends ImportError {}

interface Upload {
  readonly encoding: Encoding;
  readonly maxBytes: number;
  /** Throws once nobody waits for the import any more. */
  readonly requireClient: () => void;
}

/**
 * The decompressed bytes of an upload. A few bytes can expand to any number of them, so what they
 * expand to is bounded by what has arrived, and the client must still be there. What cannot be
 * decompressed is an upload that broke off.
 */
export async function* expanded(
  input: AsyncIterable<Uint8Array>,
  { encoding, maxBytes, requireClient }: Upload,
): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of input) {
      arrived += piece.byteLength;
      if (arrived > maxBytes) throw new InputTooLarge("the input is too large");
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
        throw new InputTooLarge("the input expands too much");
      }
      yield piece;
    }
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new InputRefused(`The body is not complete ${encoding}: ${(error as Error).message}.`);
  }
}

/** Ends an import that has refused more lines than a mistake explains. */
export function requireSense(refused: number): void {
  if (refused <= IMPORT_REFUSED_MAX) return;
  throw new InputRefused(
    `More than ${IMPORT_REFUSED_MAX} lines are refused, so the import has stopped.`,
  );
}
