/** The shards of one placement of a project's copy, which are always on the same worker. */
export interface ShardGroup {
  /** One of its shards; moving it moves all. */
  readonly shardId: string;
  readonly copyId: string;
  readonly worker: string;
  readonly bytes: number;
}

export interface Move {
  readonly group: ShardGroup;
  readonly to: string;
}

/** The weight of an empty placement, because a search sends a statement to every placement. */
const GROUP_BASE_BYTES = 1_048_576;
/** Minimum by which a move lowers the difference between two workers, as a share of the moved bytes. */
const MOVE_GAIN_MIN = 0.2;

const weightOf = ({ bytes }: ShardGroup) => GROUP_BASE_BYTES + bytes;

/** Which worker has which groups, while moves are planned. */
class Distribution {
  readonly #workerOf: Map<ShardGroup, string>;

  constructor(
    groups: readonly ShardGroup[],
    private readonly workers: readonly string[],
  ) {
    this.#workerOf = new Map(groups.map((group) => [group, group.worker]));
  }

  on(worker: string): ShardGroup[] {
    return [...this.#workerOf].flatMap(([group, on]) => (on === worker ? [group] : []));
  }

  weight(worker: string): number {
    return this.on(worker).reduce((sum, group) => sum + weightOf(group), 0);
  }

  /** Placements of the group's copy on a worker. */
  siblings({ copyId }: ShardGroup, worker: string): number {
    return this.on(worker).filter((group) => group.copyId === copyId).length;
  }

  /** Workers with the least first. */
  byWeight(): string[] {
    const weights = new Map(this.workers.map((worker) => [worker, this.weight(worker)]));
    return [...this.workers].sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
  }

  move(group: ShardGroup, to: string): void {
    this.#workerOf.set(group, to);
  }
}

/** The next move that spreads a copy over the workers, or evens out their bytes; undefined without a useful move. */
function nextMove(state: Distribution): Move | undefined {
  const workers = state.byWeight();
  const spread = workers.flatMap((to) =>
    workers.flatMap((from) =>
      state
        .on(from)
        .filter((group) => state.siblings(group, from) > state.siblings(group, to) + 1)
        .map((group) => ({ group, to })),
    ),
  );
  if (spread[0] !== undefined) return spread[0];
  const [to, from] = [workers[0], workers.at(-1)];
  if (to === undefined || from === undefined) return undefined;
  const difference = state.weight(from) - state.weight(to);
  const [largest] = state
    .on(from)
    .filter((group) => state.siblings(group, from) > state.siblings(group, to))
    .filter((group) => difference - weightOf(group) > MOVE_GAIN_MIN * weightOf(group))
    .sort((a, b) => b.bytes - a.bytes);
  return largest === undefined ? undefined : { group: largest, to };
}

/**
 * Plans moves after which every copy is spread over as many workers as it has placements, as far as there are
 * workers, and workers hold about as many bytes. A group is moved once at most.
 */
export function planMoves(groups: readonly ShardGroup[], workers: readonly string[]): Move[] {
  const state = new Distribution(groups, workers);
  const targets = new Map<ShardGroup, string>();
  // Every step lowers a sum of squares, so it ends; the bound is for the reader.
  for (let steps = 0; steps < groups.length * workers.length; steps++) {
    const move = nextMove(state);
    if (move === undefined) break;
    state.move(move.group, move.to);
    targets.set(move.group, move.to);
  }
  return [...targets].flatMap(([group, to]) => (to === group.worker ? [] : [{ group, to }]));
}
