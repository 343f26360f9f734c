/** Maximum number of queries that go first in a row while texts of files wait. */
const QUERIES_IN_A_ROW = 8;

type Work = () => Promise<void>;

/**
 * Runs one piece of work after the other. Queries go before the texts of files. Requests for texts run in pieces that
 * alternate, and some pieces run even in a flood of queries.
 */
export class WorkTurns {
  readonly #queries: Work[] = [];
  readonly #pieces: Work[] = [];
  #inARow = 0;
  #running = false;

  add(work: Work, isQuery: boolean): void {
    (isQuery ? this.#queries : this.#pieces).push(work);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let work = this.#next(); work !== undefined; work = this.#next()) {
      await work();
      // Requests that arrived meanwhile are read before the next piece is chosen.
      await Bun.sleep(0);
    }
    this.#running = false;
  }

  #next(): Work | undefined {
    const isQuery = this.#pieces.length === 0 || this.#inARow < QUERIES_IN_A_ROW;
    const query = isQuery ? this.#queries.shift() : undefined;
    this.#inARow = query === undefined ? 0 : this.#inARow + 1;
    return query ?? this.#pieces.shift();
  }
}
