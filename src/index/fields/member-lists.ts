import { hasDocument } from "../segments/index.ts";
import type { Members } from "../versions/version-index.ts";
import type { VersionTable } from "../versions/version-table.ts";

/** The members of a derived scope, for an engine without version numbers. */
export interface MemberLists {
  /** Versions with all of their chunks. */
  readonly versionIds: readonly string[];
  /** The versions of single chunks, and for each how many chunks of the version are before it. */
  readonly partIds: readonly string[];
  readonly positions: readonly number[];
  /** Chunks by the dimension of their embedding. */
  readonly sizes: ReadonlyMap<number, number>;
}

export function memberLists(table: VersionTable, { numbers, chunks }: Members): MemberLists {
  const { firstChunks, dimensions } = table;
  const versionIds: string[] = [];
  const partIds: string[] = [];
  const positions: number[] = [];
  const sizes = new Map<number, number>();
  for (const number of numbers) {
    const id = table.idOf(number);
    const first = firstChunks[number] as number;
    const own: number[] = [];
    for (let chunk = first; chunk < (firstChunks[number + 1] as number); chunk++) {
      if (chunks !== null && !hasDocument(chunks, chunk)) continue;
      const dimension = dimensions[chunk] as number;
      sizes.set(dimension, (sizes.get(dimension) ?? 0) + 1);
      own.push(chunk - first);
    }
    if (own.length === (firstChunks[number + 1] as number) - first) versionIds.push(id);
    else {
      for (const position of own) {
        partIds.push(id);
        positions.push(position);
      }
    }
  }
  return { versionIds, partIds, positions, sizes };
}
