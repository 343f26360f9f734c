/** One of `shardCount` disjoint parts of the documents, divided by the hash of their paths. */
export interface Shard {
  /** 0-based, below `shardCount`. */
  shardIndex: number;
  shardCount: number;
}

/**
 * A 32-bit hash of a path in UTF-8 (FNV-1a with a final mix). It is stored in segments and decides
 * shards, so it must never change.
 */
export function pathHash(path: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of path) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
