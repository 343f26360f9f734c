/** One of `shardCount` disjoint parts of the documents, divided by the hash of their paths. */
export interface Shard {
  /** 0-based, below `shardCount`. */
  shardIndex: number;
  shardCount: number;
}
