import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { EMBEDDER_DIMENSION_MAX } from "../../domain/limits.ts";
import type { Reader } from "./reader.ts";

/** The embedder that every service has. */
export const HASHING = "hashing";

/** Names of embedders are parts of paths in messages, and of fingerprints, which separate their parts by colons. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Code points, because TypeBox compiles patterns without the flag that classes such as `\p{Cc}` need. */
const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/** Maximum texts of a request, and maximum concurrent requests. They bound memory. */
const EMBEDDER_BATCH_MAX = 256;
const EMBEDDER_CONCURRENCY_MAX = 32;
/** Maximum threads of a model in a process of the service. */
const MODEL_THREADS_MAX = 64;
/** Maximum time that a model may stay in memory unused. */
const MODEL_IDLE_MAX_SECONDS = 604_800;

const COMMON = {
  truncate: Type.Optional(Type.Boolean()),
  query_prefix: Type.Optional(Type.String()),
  document_prefix: Type.Optional(Type.String()),
  batch: Type.Optional(Type.Integer({ minimum: 1, maximum: EMBEDDER_BATCH_MAX })),
};
const Dimension = Type.Integer({ minimum: 1, maximum: EMBEDDER_DIMENSION_MAX });

const EndpointSettings = Type.Object(
  {
    ...COMMON,
    url: Type.String({ pattern: "^https?://" }),
    model: Type.String({ minLength: 1, maxLength: 256, pattern: NO_CONTROL_CHARACTERS }),
    dimension: Dimension,
    api_key_env: Type.Optional(Type.String({ minLength: 1 })),
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: EMBEDDER_CONCURRENCY_MAX })),
  },
  { additionalProperties: false },
);
type EndpointSettings = Static<typeof EndpointSettings>;

const Pooling = Type.Union([Type.Literal("mean"), Type.Literal("cls"), Type.Literal("last")]);
/** The vector of a text, from those of its tokens: their mean, the first or the last. */
export type Pooling = Static<typeof Pooling>;

const ModelSettings = Type.Object(
  {
    ...COMMON,
    onnx: Type.String({ minLength: 1, maxLength: 4_096, pattern: NO_CONTROL_CHARACTERS }),
    dimension: Type.Optional(Dimension),
    pooling: Type.Optional(Pooling),
    threads: Type.Optional(Type.Integer({ minimum: 1, maximum: MODEL_THREADS_MAX })),
    idle_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: MODEL_IDLE_MAX_SECONDS })),
  },
  { additionalProperties: false },
);
type ModelSettings = Static<typeof ModelSettings>;

interface CommonConfig {
  readonly name: string;
  /** True to cut longer vectors to the dimension, as Matryoshka models allow. */
  readonly truncate?: boolean | undefined;
  /** Maximum texts of a request. */
  readonly batch?: number | undefined;
}

/** An endpoint of the operator that embeds texts. Neither URL nor key is ever shown to a caller. */
export interface EndpointConfig extends CommonConfig {
  /** The URL of `/v1/embeddings`, or of a path above it. */
  readonly url: string;
  readonly model: string;
  /** Elements of its vectors, which are stored with zeros up to a dimension that can be searched. */
  readonly dimension: number;
  readonly apiKey: string | undefined;
  /** The prefixes of the texts of queries, and of the texts of chunks. */
  readonly queryPrefix: string;
  readonly documentPrefix: string;
  /** Maximum concurrent requests of a node for files. */
  readonly concurrency?: number | undefined;
}

/** A model that a process of the service runs. Undefined settings follow from the model. */
export interface ModelConfig extends CommonConfig {
  /** A folder with the model, or its name in `DATA_DIR/models`. */
  readonly onnx: string;
  readonly dimension: number | undefined;
  readonly pooling: Pooling | undefined;
  readonly queryPrefix: string | undefined;
  readonly documentPrefix: string | undefined;
  /** Threads that the model computes on. */
  readonly threads: number | undefined;
  /** Time that the model stays in memory without a text. */
  readonly idleSeconds: number | undefined;
}

export type EmbedderConfig = EndpointConfig | ModelConfig;

/** True for a valid name of an embedder. */
export function isEmbedderName(name: string): boolean {
  return NAME.test(name);
}

function faultOf(name: string, value: unknown): string | undefined {
  if (name === HASHING) return `EMBEDDERS must not name "${HASHING}", which is built in`;
  if (!NAME.test(name)) return "EMBEDDERS must have names of a-z, 0-9, dot, dash and underscore";
  const settings = isModel(value) ? ModelSettings : EndpointSettings;
  const [error] = Value.Errors(settings, value);
  // The value may contain a password, so the fault does not repeat it.
  if (error !== undefined) {
    return `EMBEDDERS.${name}${error.path.replaceAll("/", ".")} is missing, unknown or not valid`;
  }
  if (isModel(value)) return undefined;
  const { url } = value as EndpointSettings;
  return URL.canParse(url) ? undefined : `EMBEDDERS.${name}.url must be a URL`;
}

const isModel = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "onnx" in value;

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
    if (fault !== undefined) reader.faults.push(fault);
    else if (isModel(value)) embedders.push(modelOf(name, value as ModelSettings));
    else embedders.push(endpointOf(reader, name, value as EndpointSettings));
  }
  return embedders;
}

function endpointOf(reader: Reader, name: string, settings: EndpointSettings): EndpointConfig {
  const { url, model, dimension, api_key_env: variable } = settings;
  const apiKey = variable === undefined ? undefined : reader.secret(variable);
  if (variable !== undefined && apiKey === undefined) {
    reader.faults.push(`EMBEDDERS.${name}.api_key_env names a variable that is not set`);
  }
  const { query_prefix: queryPrefix = "", document_prefix: documentPrefix = "" } = settings;
  const { batch, concurrency, truncate } = settings;
  return {
    name,
    url,
    model,
    dimension,
    apiKey,
    queryPrefix,
    documentPrefix,
    batch,
    concurrency,
    truncate,
  };
}

function modelOf(name: string, settings: ModelSettings): ModelConfig {
  const { onnx, dimension, pooling, threads, batch, truncate } = settings;
  return {
    name,
    onnx,
    dimension,
    pooling,
    threads,
    batch,
    truncate,
    queryPrefix: settings.query_prefix,
    documentPrefix: settings.document_prefix,
    idleSeconds: settings.idle_seconds,
  };
}
