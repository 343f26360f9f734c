import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EMBEDDER_DIMENSION_MAX } from "../../domain/limits.ts";
import { padded, vectorFault } from "../../domain/vector.ts";

const BYTES_PER_ELEMENT = 4;

const EmbeddingResponse = Type.Object({
  data: Type.Array(
    Type.Object({
      index: Type.Optional(Type.Integer()),
      embedding: Type.Union([Type.String(), Type.Array(Type.Number())]),
    }),
  ),
});
type EmbeddingResponse = Static<typeof EmbeddingResponse>;

/**
 * The vectors in a response of `/v1/embeddings`, in the order of the inputs. Throws an EmbeddingError unless there are
 * `expected` vectors that can be searched.
 *
 * @param maxElements maximum elements kept of each vector
 */
export function parseEmbeddingResponse(
  text: string,
  expected: number,
  maxElements = Number.POSITIVE_INFINITY,
): Float32Array[] {
  const { data } = parseResponse(text);
  const vectors = new Array<Float32Array | undefined>(expected);
  data.forEach(({ index, embedding }, position) => {
    const vector =
      typeof embedding === "string" ? fromBase64(embedding) : Float32Array.from(embedding);
    vectors[index ?? position] =
      vector.length > maxElements ? vector.slice(0, maxElements) : vector;
  });
  if (data.length !== expected || vectors.length !== expected || vectors.includes(undefined)) {
    throw new EmbeddingError(
      `the embedding endpoint returned ${data.length} vectors for ${expected} texts`,
    );
  }
  for (const vector of vectors) requireSearchable(vector as Float32Array);
  return vectors as Float32Array[];
}

function parseResponse(text: string): EmbeddingResponse {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new EmbeddingError("the response of the embedding endpoint is not valid JSON", ["url"]);
  }
  if (Value.Check(EmbeddingResponse, value)) return value;
  throw new EmbeddingError(
    "the response of the embedding endpoint does not have the form of /v1/embeddings",
    ["url"],
  );
}

function fromBase64(text: string): Float32Array {
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  const whole = bytes.length - (bytes.length % BYTES_PER_ELEMENT);
  return new Float32Array(bytes.buffer, 0, whole / BYTES_PER_ELEMENT);
}

function requireSearchable(vector: Float32Array): void {
  if (vector.length === 0 || vector.length > EMBEDDER_DIMENSION_MAX) {
    throw new EmbeddingError(
      `the model returns vectors of ${vector.length} dimensions, but only 1 to ` +
        `${EMBEDDER_DIMENSION_MAX} can be searched`,
      ["model", "dimension"],
    );
  }
  const fault = vectorFault(padded(vector));
  if (fault === "not-finite") {
    throw new EmbeddingError("the model returned a vector with elements that are not finite");
  }
  if (fault === "all-zeros") throw new EmbeddingError("the model returned a vector of zeros");
}

/** A setting of an embedding endpoint. */
export type EmbeddingSetting = "url" | "model" | "dimension" | "apiKey";

/** Why a text could not be embedded. */
export class EmbeddingError extends Error {
  override name = "EmbeddingError";

  /** @param settings the settings that may be wrong */
  constructor(
    message: string,
    readonly settings: readonly EmbeddingSetting[] = [],
  ) {
    super(message);
  }
}
