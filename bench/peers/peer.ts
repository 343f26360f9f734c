import type { Matrix } from "../harness/vector-files.ts";

/** What a peer needs to be measured; rows are the numbers of its vectors. */
export interface Peer {
  readonly name: string;
  /** Efforts of a search to try, ascending, such as ef; [0] where there is nothing to choose. */
  readonly efforts: readonly number[];
  /** Stores the vectors and builds the index; resolves when it is complete. */
  load(data: Matrix): Promise<void>;
  /** Sets the effort of the following searches. */
  use(effort: number): Promise<void>;
  /** The rows of the nearest vectors by cosine. */
  search(query: Float32Array, limit: number): Promise<readonly number[]> | readonly number[];
  /** CPU seconds that it has used so far. */
  cpuSeconds(): number;
  /** Bytes of the vectors and the index: resident, or of the files that searches read. */
  bytes(): Promise<number> | number;
  /** Frees what it has taken outside of this run. */
  close?(): Promise<void>;
}

/** A peer whose packages cannot be installed here. */
export class Unavailable extends Error {}

/** Ranges of rows, in batches. */
export function* batches(rows: number, size: number): Generator<number[]> {
  for (let first = 0; first < rows; first += size) {
    yield Array.from({ length: Math.min(size, rows - first) }, (_, i) => first + i);
  }
}
