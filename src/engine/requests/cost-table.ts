import { ANSWER_INLINE_MAX_BYTES } from "../../domain/limits.ts";
import type { EngineRequest } from "./request.ts";

/** Costs that are remembered. */
const COSTS_MAX = 20_000;

/** A query of this length costs twice as much as an empty one would. */
const BASE_CHARS = 16;

/** The class of a request: the cost of one request of a class predicts that of the others. */
function keyOf(request: EngineRequest): string {
  const { kind, scope } = request;
  if (kind === "search") return scope.id;
  if (kind === "retrieve") {
    return `${scope.id} ${request.mode} ${request.facets === null ? "hits" : "facets"}`;
  }
  // Browsing costs almost no time, which must not make queries look cheap.
  return `${scope.id} ${request.query === null ? "browse" : "query"}`;
}

/** The divisor that makes the costs of requests of different lengths comparable. */
function sizeOf(request: EngineRequest): number {
  return request.kind === "search" ? 1 : BASE_CHARS + (request.query?.length ?? 0);
}

/**
 * A moving average that rises more slowly than it falls. A slow request may only mean that its thread was interrupted,
 * which happens to most requests where all cores are busy.
 */
function moved(known: number, cost: number): number {
  return known + (cost - known) / (cost > known ? 32 : 8);
}

/** The average cost of recent requests in milliseconds, by kind and scope. */
export class CostTable {
  readonly #costs = new Map<string, number>();
  /** Projects whose chunks are large enough that the limit of a request decides its cost. */
  readonly #large = new Set<string>();

  /** The expected cost of a request; undefined before a request of its class was measured. */
  expected(request: EngineRequest): number | undefined {
    const cost = this.#costs.get(keyOf(request));
    return cost === undefined ? undefined : cost * sizeOf(request);
  }

  /**
   * True when an average does not predict the cost: that of facets depends on the files that are found, and answers of
   * the request's project have been large.
   */
  varies(request: EngineRequest): boolean {
    const hasFacets = request.kind === "retrieve" && request.facets !== null;
    return hasFacets || this.#large.has(request.scope.projectId);
  }

  /** @param bytes length of the answer */
  record(request: EngineRequest, milliseconds: number, bytes: number): void {
    if (bytes > ANSWER_INLINE_MAX_BYTES) {
      if (this.#large.size >= COSTS_MAX) this.#large.clear();
      this.#large.add(request.scope.projectId);
    }
    const key = keyOf(request);
    const cost = milliseconds / sizeOf(request);
    const known = this.#costs.get(key);
    if (known === undefined && this.#costs.size >= COSTS_MAX) this.#costs.clear();
    this.#costs.set(key, known === undefined ? cost : moved(known, cost));
  }
}
