import { Readable } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { wholeFrames } from "./zstd-frames.ts";

/** Maximum bytes of a decompressed piece. */
const PIECE_BYTES = 262_144;

const DECODERS = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

/** How bytes are compressed, by the names of content codings. */
export type Encoding = "identity" | keyof typeof DECODERS;

/** Every encoding but `identity`. */
export const COMPRESSIONS = Object.keys(DECODERS) as readonly (keyof typeof DECODERS)[];

/**
 * The decompressed input, in pieces. Throws for an input that is damaged, breaks off, or has data after its end. An
 * error of the input is thrown as it is.
 */
export async function* decompressed(
  encoding: Encoding,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (encoding === "identity") return yield* input;
  const decoder = DECODERS[encoding]({ chunkSize: PIECE_BYTES });
  let given = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of encoding === "zstd" ? wholeFrames(input) : input) {
      given += piece.byteLength;
      yield piece;
    }
  }
  const compressed = Readable.from(counted(), { objectMode: false });
  compressed.on("error", (error) => decoder.destroy(error));
  try {
    yield* compressed.pipe(decoder);
  } finally {
    // If the reader stops early, reading the input stops, too.
    compressed.destroy();
  }
  // Decompressors of formats without members ignore trailing data.
  if (decoder.bytesWritten < given) throw new Error("data follows its end");
}
