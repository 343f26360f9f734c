/** Files and folders of a disk that has a cache, and what a power cut may leave of each. */

/** Pages are written one by one, in any order. */
const PAGE_BYTES = 4_096;

/** A change of a file's contents; `bytes` undefined sets its length to `at`. */
interface FileChange {
  readonly end: number;
  readonly at: number;
  readonly bytes?: Buffer;
}

/** How much of what was not made durable a cut leaves. */
export type Loss = "nothing" | "all" | "some";

/** Whole numbers in [0, limit). */
export type Draw = (limit: number) => number;

/** Contents that grow. */
class Contents {
  #bytes = Buffer.alloc(0);
  length = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  apply({ at, bytes }: FileChange): void {
    this.resize(bytes === undefined ? at : Math.max(this.length, at + bytes.length));
    bytes?.copy(this.#bytes, at);
  }

  resize(length: number): void {
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, this.#bytes.length * 2));
      this.bytes.copy(larger);
      this.#bytes = larger;
    }
    if (length < this.length) this.#bytes.fill(0, length, this.length);
    this.length = length;
  }
}

export class FileNode {
  readonly #durable = new Contents();
  readonly #current = new Contents();
  #pending: FileChange[] = [];

  /** The contents that processes read. */
  get bytes(): Buffer {
    return this.#current.bytes;
  }

  change(change: FileChange): void {
    this.#current.apply(change);
    this.#pending.push(change);
  }

  /** Makes durable what had been written before a sync began. */
  sync(begun: number): void {
    for (const change of this.#pending) if (change.end < begun) this.#durable.apply(change);
    this.#pending = this.#pending.filter(({ end }) => end >= begun);
  }

  /** What a cut may leave: each page as it was after any of the changes, and the length after any of them. */
  afterCut(loss: Loss, draw: Draw): Buffer {
    if (loss === "nothing" || this.#pending.length === 0) return this.bytes;
    if (loss === "all") return this.#durable.bytes;
    const lengths = [this.#durable.length];
    for (const { at, bytes } of this.#pending) {
      const length = lengths.at(-1) as number;
      lengths.push(bytes === undefined ? at : Math.max(length, at + bytes.length));
    }
    const left = Buffer.alloc(lengths[draw(lengths.length)] as number);
    this.#durable.bytes.copy(left);
    const byPage = this.#changesByPage(Math.ceil(left.length / PAGE_BYTES));
    for (const [page, changes] of byPage) {
      const target = left.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
      for (const change of changes.slice(0, draw(changes.length + 1))) {
        applyToPage(target, page * PAGE_BYTES, change);
      }
    }
    return left;
  }

  #changesByPage(pages: number): Map<number, FileChange[]> {
    const byPage = new Map<number, FileChange[]>();
    for (const change of this.#pending) {
      const end = change.bytes === undefined ? Infinity : change.at + change.bytes.length;
      const last = Math.min(pages, Math.ceil(end / PAGE_BYTES));
      for (let page = Math.floor(change.at / PAGE_BYTES); page < last; page++) {
        const changes = byPage.get(page);
        if (changes === undefined) byPage.set(page, [change]);
        else changes.push(change);
      }
    }
    return byPage;
  }
}

function applyToPage(page: Buffer, start: number, { at, bytes }: FileChange): void {
  if (bytes === undefined) page.fill(0, Math.max(at - start, 0));
  else bytes.subarray(Math.max(start - at, 0)).copy(page, Math.max(at - start, 0));
}

type DiskNode = FileNode | FolderNode;

/** What a name stands for from then on. */
interface Entry {
  readonly folder: FolderNode;
  readonly name: string;
  readonly node: DiskNode | undefined;
}

/** A change of names that happens as a whole: a rename has two entries. */
export interface NameChange {
  readonly end: number;
  readonly entries: readonly Entry[];
}

export class FolderNode {
  /** The names that processes see. */
  readonly names = new Map<string, DiskNode>();
  readonly durable = new Map<string, DiskNode>();
  readonly pending = new Set<NameChange>();
}

const foldersOf = ({ entries }: NameChange) => new Set(entries.map(({ folder }) => folder));

/** Changes names in a map of a folder. */
export function setName(names: Map<string, DiskNode>, { name, node }: Entry): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}

/** Makes a change of names durable, and with it what came before it in its folders. */
export function commitName(change: NameChange): void {
  for (const folder of foldersOf(change)) {
    for (const each of folder.pending) {
      if (each === change) break;
      commitName(each);
    }
  }
  for (const entry of change.entries) {
    if (entry.folder.pending.has(change)) setName(entry.folder.durable, entry);
  }
  for (const folder of foldersOf(change)) folder.pending.delete(change);
}

/** Chooses the changes of names that a cut leaves: of each folder the first ones, and renames as a whole. */
export function namesAfterCut(
  changes: readonly NameChange[],
  loss: Loss,
  draw: Draw,
): Set<NameChange> {
  if (loss === "nothing") return new Set(changes);
  if (loss === "all") return new Set();
  const left = new Set<NameChange>();
  const ended = new Set<FolderNode>();
  // One bound for all is what a journal leaves; bounds of their own are what may be left without one.
  const isJournal = draw(2) === 0;
  const bound = draw(changes.length + 1);
  const oneIn = 1 + draw(changes.length + 1);
  for (const [i, change] of changes.entries()) {
    const folders = foldersOf(change);
    const isLost = isJournal ? i >= bound : draw(oneIn) === 0;
    if (isLost || [...folders].some((folder) => ended.has(folder))) {
      for (const folder of folders) ended.add(folder);
    } else left.add(change);
  }
  return left;
}
