/** The placement of a file version. Its chunks and its rows in scopes share it. */
export function placementOf(versionId: string, placements: readonly number[]): number {
  // The last digits of a uuid are random in every version of the format.
  const slot = Number.parseInt(versionId.slice(-8), 16) % placements.length;
  return placements[slot] as number;
}

/** File versions by the placement that stores them. Placements without any are included. */
export function byPlacement(
  versions: readonly string[],
  placements: readonly number[],
): Map<number, string[]> {
  const groups = new Map(placements.map((placement) => [placement, [] as string[]]));
  for (const version of versions) groups.get(placementOf(version, placements))?.push(version);
  return groups;
}
