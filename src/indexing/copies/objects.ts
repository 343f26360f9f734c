/** Named bytes that all nodes share. Names are paths with `/`. Each call takes a bounded time. */
export interface Objects {
  /** Stores an object as a whole, or not at all. */
  put(name: string, bytes: Uint8Array<ArrayBuffer>, timeoutMs: number): Promise<void>;
  /** Null when there is no such object; rejects with a `CopyFailure` when it has more bytes. */
  get(name: string, maxBytes: number, timeoutMs: number): Promise<Buffer | null>;
  /** The sizes of the objects directly in a folder, by name without the folder. */
  list(folder: string): Promise<Map<string, number>>;
  /** The names of the folders directly in a folder. */
  folders(folder: string): Promise<string[]>;
  /** An object that does not exist counts as deleted. */
  delete(name: string): Promise<void>;
  /** Deletes all objects in a folder. */
  deleteFolder(folder: string): Promise<void>;
}
