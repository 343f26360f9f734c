import { EMBED_TIMEOUT_MS } from "../../domain/limits.ts";
import { storedDimension } from "../../domain/vector.ts";
import { Breaker, CircuitOpen } from "../../ops/breaker.ts";
import { type EndpointConfig, HASHING } from "../../ops/config/embedders.ts";
import { FITS_HEADER, type LocalModel, QUERY_PATH } from "../models/local-model.ts";
import { isLocal, type UsableEmbedder } from "../models/local-models.ts";
import { type Embedder, hashingEmbedder, type Passage } from "./embedder.ts";
import { EmbeddingError } from "./embedding-response.ts";
import { Endpoint, isTimeout, RequestFailure } from "./endpoint.ts";
import {
  EMBED_BATCH_INPUTS,
  type FittingChars,
  type InTurn,
  type OnOutcomes,
  type Outcome,
  TextBatches,
  TextsAtFault,
} from "./text-batches.ts";
import { overSocket, withSecondTry } from "./transport.ts";

/** Maximum concurrent requests of a process to an embedder, unless its configuration has another number. */
const EMBED_CONCURRENCY = 4;
/**
 * A model computes one request after the other. A second request waits, so that the model does not idle between two.
 */
const MODEL_CONCURRENCY = 2;
/** The status with which the process of a model reports that it cannot use the model. */
const UNUSABLE_STATUS = 503;

/** An embedder that projects may name: one of the operator's, or the built-in one. */
export interface ProjectEmbedder {
  readonly name: string;
  /** `name:model:dimension`. Embeddings with equal fingerprints are comparable. */
  readonly fingerprint: string;
  /** Maximum concurrent requests of a process to embed files. */
  readonly concurrency: number;
  /** Maximum texts of a request, as learned so far. */
  readonly batchInputs: number;
  /**
   * Embeds passages with any number of requests, each with this timeout. Passages at which the embedder fails do not
   * delay others. Throws EmbedderAway, after it has passed the known outcomes to `onOutcomes`.
   *
   * @param inTurn sends each request; by default immediately
   */
  embedPassages(
    passages: readonly Passage[],
    timeoutMs: number,
    onOutcomes?: OnOutcomes,
    inTurn?: InTurn,
  ): Promise<Outcome[]>;
  embedQuery(text: string, timeoutMs: number): Promise<Float32Array>;
}

/** An embedder is slow, away or misconfigured. The message contains neither its address nor its answer. */
export class EmbedderAway extends Error {
  constructor(
    readonly embedder: string,
    reason: string,
    /** The pause that the embedder has asked for, in milliseconds. */
    readonly retryAfterMs?: number | undefined,
  ) {
    super(`the embedder ${embedder} ${reason}`);
  }
}

export function isAway(error: unknown): error is EmbedderAway {
  return error instanceof EmbedderAway;
}

/** An embedder refuses a query, and would refuse it again. */
export class TextsRefused extends Error {}

/** The name in a fingerprint. */
export function embedderName(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.indexOf(":"));
}

/** The elements of the vectors that an embedder returns. */
export function ownDimension(fingerprint: string): number {
  return Number(fingerprint.slice(fingerprint.lastIndexOf(":") + 1));
}

/** Whether the embeddings of a fingerprint are stored in this dimension. */
export function hasDimension(fingerprint: string, dimension: number): boolean {
  return storedDimension(ownDimension(fingerprint)) === dimension;
}

/** Statuses that refuse the texts of a request, not the endpoint. */
const TEXT_STATUSES = new Set([400, 413, 422]);

function away(name: string, error: unknown): Error {
  if (error instanceof EmbeddingError) {
    const isVector = error.settings.includes("dimension");
    return new EmbedderAway(
      name,
      `returned ${isVector ? "vectors of another dimension" : "nonsense"}`,
    );
  }
  if (!(error instanceof RequestFailure)) return error as Error;
  const { status, retryAfterMs } = error;
  if (status === null) {
    return new EmbedderAway(name, isTimeout(error) ? "is too slow" : "does not answer");
  }
  if (TEXT_STATUSES.has(status)) return new TextsRefused(`the embedder ${name} answered ${status}`);
  return new EmbedderAway(name, `answered ${status}`, retryAfterMs);
}

/** The fault of texts at which an embedder fails. The message does not contain the embedder's answer. */
function faultOf(name: string, { kind, cause, fits }: TextsAtFault): TextsAtFault {
  const message =
    cause instanceof EmbeddingError
      ? `the embedder ${name}: ${cause.message}`
      : away(name, cause).message;
  return new TextsAtFault(message, kind, { fits });
}

function remote(config: EndpointConfig, firstBatch: number | undefined): ProjectEmbedder {
  const endpoint = new Endpoint({ ...config, asksForDimension: false });
  return overEndpoints(
    { ...config, firstBatch },
    { files: endpoint, queries: endpoint, hasSeveralProcesses: true },
    (error) => away(config.name, error),
  );
}

/** The message of a model's process may be repeated to callers, because no third party has written it. */
function local(
  model: LocalModel,
  start: (name: string) => void,
  firstBatch: number | undefined,
): ProjectEmbedder {
  const { name, socket } = model;
  const at = (path: string) =>
    new Endpoint({
      url: `http://model${path}`,
      model: model.model,
      dimension: model.dimension,
      asksForDimension: false,
      send: overSocket(socket, () => start(name)),
      fitsOf,
    });
  // A second request would only keep its one process busy.
  const endpoints = { files: at("/"), queries: at(QUERY_PATH), hasSeveralProcesses: false };
  const config = { ...model, concurrency: MODEL_CONCURRENCY, firstBatch };
  return overEndpoints(config, endpoints, (error) =>
    error instanceof RequestFailure && error.status === UNUSABLE_STATUS
      ? new EmbedderAway(name, `cannot be used: ${error.message}`)
      : away(name, error),
  );
}

/** The texts that the process of a model names as too long; undefined if it refuses a request for another reason. */
function fitsOf({ headers }: Response): FittingChars | undefined {
  const fits = headers.get(FITS_HEADER);
  return fits === null ? undefined : new Map(JSON.parse(fits));
}

interface Endpoints {
  readonly files: Endpoint;
  readonly queries: Endpoint;
  /** Whether several processes may share its address, one of which may be down. */
  readonly hasSeveralProcesses: boolean;
}

const pauseOf = (error: unknown) => (isAway(error) ? (error.retryAfterMs ?? 0) : undefined);

/** @param failure converts an error of an endpoint into the thrown one */
function overEndpoints(
  config: Omit<EndpointConfig, "url" | "apiKey"> & { readonly firstBatch: number | undefined },
  { files, queries, hasSeveralProcesses }: Endpoints,
  failure: (error: unknown) => Error,
): ProjectEmbedder {
  const { name, model, dimension, queryPrefix, documentPrefix: prefix } = config;
  const send = async (inputs: readonly string[], timeoutMs?: number) => {
    try {
      return await files.embedOrBlame(inputs, timeoutMs);
    } catch (error) {
      throw error instanceof TextsAtFault ? faultOf(name, error) : failure(error);
    }
  };
  const batches = new TextBatches(send, config.batch, config.firstBatch);
  return {
    name,
    fingerprint: `${name}:${model}:${dimension}`,
    concurrency: config.concurrency ?? EMBED_CONCURRENCY,
    get batchInputs() {
      return batches.maxInputs;
    },
    embedPassages: (passages, timeoutMs, onOutcomes, inTurn) =>
      batches.embed(passages, { prefix, timeoutMs, onOutcomes, inTurn }),
    async embedQuery(text, timeoutMs) {
      const ask = async (leftMs: number) => {
        try {
          return (await queries.embed([queryPrefix + text], leftMs))[0] as Float32Array;
        } catch (error) {
          throw failure(error);
        }
      };
      return await (hasSeveralProcesses ? withSecondTry(ask, timeoutMs, pauseOf) : ask(timeoutMs));
    },
  };
}

const hashing = hashingEmbedder();

/** The fingerprint of the built-in embedder. */
export const BUILT_IN_FINGERPRINT = `${HASHING}:${hashing.name}`;

const builtIn: ProjectEmbedder = {
  name: HASHING,
  fingerprint: BUILT_IN_FINGERPRINT,
  concurrency: EMBED_CONCURRENCY,
  batchInputs: EMBED_BATCH_INPUTS,
  async embedPassages(passages, _timeoutMs, onOutcomes) {
    const vectors = await hashing.embedPassages(passages);
    const outcomes = vectors.map(
      (vector): Outcome => ({ vector: vector as Float32Array, parts: 1 }),
    );
    await onOutcomes?.(0, outcomes);
    return outcomes;
  },
  embedQuery: (text) => hashing.embedQuery(text),
};

/** The embedders of a configuration by name. */
export type ProjectEmbedders = ReadonlyMap<string, ProjectEmbedder>;

/**
 * @param start starts the process of a model, unless it runs
 * @param batches maximum texts of the first requests to an embedder, by name
 */
export function projectEmbedders(
  embedders: readonly UsableEmbedder[],
  start: (name: string) => void,
  batches: Readonly<Record<string, number>> = {},
): ProjectEmbedders {
  const own = embedders.map((each) => {
    const firstBatch = batches[each.name];
    return isLocal(each) ? local(each, start, firstBatch) : remote(each, firstBatch);
  });
  return new Map([builtIn, ...own].map((embedder) => [embedder.name, embedder]));
}

/** Their fingerprints by name. */
export function fingerprintsOf(embedders: ProjectEmbedders): Record<string, string> {
  return Object.fromEntries([...embedders].map(([name, { fingerprint }]) => [name, fingerprint]));
}

/**
 * A constant in place of the embedder in the keys of versions, so that another embedder embeds the same versions again.
 */
const PROJECTS_OWN = "project";

/**
 * The embedder of a project for an import. Once it is away, or without an embedder, files are stored without
 * embeddings, and the service embeds them later.
 *
 * @param onAway called once with the reason
 */
export function importEmbedder(
  fingerprint: string,
  embedder: ProjectEmbedder | undefined,
  onAway: (reason: string) => void,
): Embedder {
  const breaker = new Breaker({
    // An import does not wait for it, so nothing closes the circuit.
    pauseMs: Number.POSITIVE_INFINITY,
    onChange: (_, reason) => onAway((reason as EmbedderAway).message),
  });
  return {
    name: PROJECTS_OWN,
    fingerprint,
    async embedPassages(passages) {
      const vectors = new Array<Float32Array | null>(passages.length).fill(null);
      if (embedder === undefined) return vectors;
      const embed = () =>
        embedder.embedPassages(passages, EMBED_TIMEOUT_MS, (from, outcomes) => {
          for (const [i, outcome] of outcomes.entries()) {
            vectors[from + i] = "reason" in outcome ? null : outcome.vector;
          }
        });
      await breaker.call(embed, isAway).catch((error) => {
        if (!(isAway(error) || error instanceof CircuitOpen)) throw error;
      });
      return vectors;
    },
    async embedQuery(text) {
      if (embedder === undefined) throw new Error("the embedder of the project is not configured");
      return await embedder.embedQuery(text, EMBED_TIMEOUT_MS);
    },
  };
}
