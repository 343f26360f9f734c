/**
 * Throws unless the snapshot of an index holds the changes that the manifest of its project promises. The indexes are
 * written before the manifest, so only a torn copy of a snapshot holds less.
 */
export function requireChanges(held: number, promised: number): void {
  if (held < promised) {
    throw new Error(`it holds changes up to ${held}, and its manifest names ${promised}`);
  }
}
