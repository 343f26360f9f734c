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
