import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EMBEDDER_DIMENSION_MAX } from "../shared/limits.ts";
import type { Reader } from "./reader.ts";

/** The embedder that every service has. */
export const HASHING = "hashing";

/** It is a part of paths in messages and of fingerprints, whose parts colons separate. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** It names code points, because TypeBox compiles patterns without the flag that classes such as `\p{Cc}` need. */
const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/** The most texts that a request may have, and the most requests at once; they bound memory. */
const EMBEDDER_BATCH_MAX = 256;
const EMBEDDER_CONCURRENCY_MAX = 32;

const EmbedderSettings = Type.Object(
  {
    url: Type.String({ pattern: "^https?://" }),
    model: Type.String({ minLength: 1, maxLength: 256, pattern: NO_CONTROL_CHARACTERS }),
    dimension: Type.Integer({ minimum: 1, maximum: EMBEDDER_DIMENSION_MAX }),
    truncate: Type.Optional(Type.Boolean()),
    api_key_env: Type.Optional(Type.String({ minLength: 1 })),
    query_prefix: Type.Optional(Type.String()),
    document_prefix: Type.Optional(Type.String()),
    batch: Type.Optional(Type.Integer({ minimum: 1, maximum: EMBEDDER_BATCH_MAX })),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: EMBEDDER_CONCURRENCY_MAX })),
  },
  { additionalProperties: false },
);
type EmbedderSettings = Static<typeof EmbedderSettings>;

/** An endpoint of the operator that embeds texts. Neither URL nor key is ever shown to a caller. */
export interface EmbedderConfig {
  readonly name: string;
  /** The URL of `/v1/embeddings`, or of a path above it. */
  readonly url: string;
  readonly model: string;
  /** Elements of its vectors, which are stored with zeros up to a dimension that can be searched. */
  readonly dimension: number;
  /** Whether longer vectors are cut to the dimension, as models of the Matryoshka kind allow. */
  readonly truncate?: boolean | undefined;
  readonly apiKey: string | undefined;
  /** What is put before the text of a query, and before that of a chunk. */
  readonly queryPrefix: string;
  readonly documentPrefix: string;
  /** Texts that a request may have, and requests that a node sends at once to embed files. */
  readonly batch?: number | undefined;
  readonly concurrency?: number | undefined;
}

function faultOf(name: string, value: unknown): string | undefined {
  if (name === HASHING) return `EMBEDDERS must not name "${HASHING}", which is built in`;
  if (!NAME.test(name)) return "EMBEDDERS must have names of a-z, 0-9, dot, dash and underscore";
  const [error] = Value.Errors(EmbedderSettings, value);
  // The value may contain a password, so the fault does not repeat it.
  if (error !== undefined) {
    return `EMBEDDERS.${name}${error.path.replaceAll("/", ".")} is missing, unknown or not valid`;
  }
  const { url } = value as EmbedderSettings;
  return URL.canParse(url) ? undefined : `EMBEDDERS.${name}.url must be a URL`;
}

/** The embedders by name in JSON. */
export function readEmbedders(reader: Reader): EmbedderConfig[] {
  const text = reader.text("EMBEDDERS");
  if (text === undefined) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The fault below must not repeat the value.
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    reader.faults.push("EMBEDDERS must be a JSON object of embedders by name");
    return [];
  }
  const embedders: EmbedderConfig[] = [];
  for (const [name, value] of Object.entries(parsed)) {
    const fault = faultOf(name, value);
    if (fault === undefined) embedders.push(embedderOf(reader, name, value as EmbedderSettings));
    else reader.faults.push(fault);
  }
  return embedders;
}

function embedderOf(reader: Reader, name: string, settings: EmbedderSettings): EmbedderConfig {
  const { url, model, dimension, api_key_env: variable } = settings;
  const apiKey = variable === undefined ? undefined : reader.text(variable);
  if (variable !== undefined && apiKey === undefined) {
    reader.faults.push(`EMBEDDERS.${name}.api_key_env names a variable that is not set`);
  }
  const { query_prefix: queryPrefix = "", document_prefix: documentPrefix = "" } = settings;
  const { batch, concurrency, truncate } = settings;
  return {
    ...{ name, url, model, dimension, apiKey, queryPrefix, documentPrefix },
    ...{ batch, concurrency, truncate },
  };
}
