/** A disk that loses what was not made durable: it follows the calls of a trace, and says what a power cut leaves. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import {
  commitName,
  type Draw,
  FileNode,
  FolderNode,
  type Loss,
  type NameChange,
  namesAfterCut,
  setName,
} from "./nodes.ts";
import type { Call, TraceEvent } from "./trace.ts";

/** A file that a cut leaves, with what it would be without the cut. */
interface Remainder {
  readonly bytes: Buffer;
  readonly whole: Buffer;
}

/** What a cut leaves, by path. Folders end with a slash and have nothing. */
export type Remains = Map<string, Remainder | undefined>;

export interface Cut {
  readonly files: Loss;
  readonly names: Loss;
  readonly draw: Draw;
}

const UNKNOWN = ["copy_file_range", "sendfile", "splice", "symlink", "symlinkat"];
const ONLY_TO_DELETED = " (deleted)";
const lastOf = (call: Call) => Number(call.words.at(-1));

/** An open file's position, by the number of the file and by what it is. */
interface Position {
  at: number;
  readonly appends: boolean;
}

export class Disk {
  readonly #root = new FolderNode();
  #changes: NameChange[] = [];
  readonly #positions = new Map<FileNode, Map<number, Position>>();
  /** The nodes of calls that have begun: their names may change until they end. */
  readonly #targets = new Map<Call, FileNode | FolderNode>();

  /**
   * @param folder the folder that is on this disk. It is empty, and durable itself
   * @param follows folders in which a file that is synced has its name as well, as on the file systems of Linux;
   *   elsewhere the folder has to be synced, too
   */
  constructor(
    readonly folder: string,
    private readonly follows: (path: string) => boolean = () => false,
  ) {}

  follow({ call, isEnd }: TraceEvent): void {
    if (isEnd) this.#end(call);
    else this.#begin(call);
  }

  #begin(call: Call): void {
    const [path = ""] = call.files;
    if (!/^(f|write|pwrite)/.test(call.name) || !this.#isHere(path)) return;
    const node = this.find(path);
    if (node !== undefined) this.#targets.set(call, node);
  }

  #end(call: Call): void {
    const paths = [...call.files, ...call.strings.map(String)];
    if (UNKNOWN.includes(call.name) && paths.some((path) => this.#isHere(path))) {
      throw new Error(`${call.name} of ${paths} is not known`);
    }
    if (call.result >= 0) this.#actions[call.name]?.(call);
    this.#targets.delete(call);
  }

  /** What processes find at a path. */
  find(path: string): FileNode | FolderNode | undefined {
    let node: FileNode | FolderNode | undefined = this.#root;
    for (const name of this.#partsOf(path)) {
      if (!(node instanceof FolderNode)) return undefined;
      node = node.names.get(name);
    }
    return node;
  }

  /** What processes see, without a cut. */
  now(): Remains {
    return this.afterCut({ files: "nothing", names: "nothing", draw: () => 0 });
  }

  afterCut({ files, names, draw }: Cut): Remains {
    const left = namesAfterCut(this.#changes, names, draw);
    const remains: Remains = new Map();
    const visit = (folder: FolderNode, path: string): void => {
      const entries = new Map(folder.durable);
      for (const change of folder.pending) {
        if (!left.has(change)) continue;
        for (const entry of change.entries) if (entry.folder === folder) setName(entries, entry);
      }
      for (const [name, node] of entries) {
        const at = path + name;
        if (node instanceof FileNode) {
          remains.set(at, { bytes: node.afterCut(files, draw), whole: node.bytes });
        } else visit(node, `${at}/`);
      }
      if (path !== "") remains.set(path, undefined);
    };
    visit(this.#root, "");
    return remains;
  }

  readonly #actions: Readonly<Record<string, (call: Call) => void>> = {
    open: (call) => this.#open(call),
    openat: (call) => this.#open(call),
    creat: (call) => this.#open(call),
    write: (call) => this.#append(call),
    writev: (call) => this.#append(call),
    pwrite64: (call) => this.#write(call, lastOf(call)),
    pwritev: (call) => this.#write(call, lastOf(call)),
    pwritev2: (call) => this.#write(call, Number(call.words.at(-2))),
    ftruncate: (call) => this.#fileOf(call)?.change({ end: call.end, at: lastOf(call) }),
    truncate: (call) => {
      const node = this.#node(`${call.strings[0]}`);
      if (node instanceof FileNode) node.change({ end: call.end, at: lastOf(call) });
    },
    fallocate: (call) => this.#allocate(call),
    fsync: (call) => this.#sync(call),
    fdatasync: (call) => this.#sync(call),
    rename: (call) => this.#rename(call),
    renameat: (call) => this.#rename(call),
    renameat2: (call) => this.#rename(call),
    unlink: (call) => this.#unname(call),
    unlinkat: (call) => this.#unname(call),
    rmdir: (call) => this.#unname(call),
    mkdir: (call) => this.#make(call),
    mkdirat: (call) => this.#make(call),
    link: (call) => this.#link(call),
    linkat: (call) => this.#link(call),
  };

  #isHere(path: string): boolean {
    return path.startsWith(`${this.folder}/`) && !path.endsWith(ONLY_TO_DELETED);
  }

  #partsOf(path: string): string[] {
    return relative(this.folder, path).split("/").filter(Boolean);
  }

  #node(path: string) {
    return this.#isHere(path) ? this.find(path) : undefined;
  }

  /** The file or folder that an open file is, even if it was renamed meanwhile. */
  #targetOf(call: Call): FileNode | FolderNode | undefined {
    const [path = ""] = call.files;
    const isWatched = path === this.folder || this.#isHere(path);
    const node = this.#targets.get(call) ?? (isWatched ? this.find(path) : undefined);
    if (node === undefined && isWatched) throw new Error(`${call.name} of an unknown ${path}`);
    return node;
  }

  #fileOf(call: Call): FileNode | undefined {
    const node = this.#targetOf(call);
    return node instanceof FileNode ? node : undefined;
  }

  #change(
    end: number,
    ...names: readonly (readonly [path: string, node: FileNode | FolderNode | undefined])[]
  ) {
    const entries = names.map(([path, node]) => {
      const parts = this.#partsOf(path);
      const name = parts.pop() as string;
      const folder = this.find(join(this.folder, ...parts));
      if (!(folder instanceof FolderNode)) throw new Error(`no folder has ${path}`);
      return { folder, name, node };
    });
    const change = { end, entries };
    this.#changes.push(change);
    for (const entry of entries) setName(entry.folder.names, entry);
    for (const folder of new Set(entries.map((each) => each.folder))) folder.pending.add(change);
  }

  #open(call: Call): void {
    const path = `${call.strings[0]}`;
    if (!this.#isHere(path)) return;
    const flags = call.words.join(" ");
    let node = this.find(path);
    if (node === undefined && (call.name === "creat" || flags.includes("O_CREAT"))) {
      node = new FileNode();
      this.#change(call.end, [path, node]);
    }
    if (!(node instanceof FileNode)) return;
    if (call.name === "creat" || flags.includes("O_TRUNC")) {
      if (node.bytes.length > 0) node.change({ end: call.end, at: 0 });
    }
    const positions = this.#positions.get(node) ?? new Map<number, Position>();
    this.#positions.set(node, positions);
    positions.set(call.result, { at: 0, appends: flags.includes("O_APPEND") });
  }

  #append(call: Call): void {
    const node = this.#fileOf(call);
    if (node === undefined) return;
    const file = Number.parseInt(call.words[0] as string, 10);
    const positions = this.#positions.get(node);
    // A child process has the output that was opened for it under another number.
    const position = positions?.get(file) ?? positions?.values().next().value;
    if (position === undefined) throw new Error(`${call.files[0]} was opened before the trace`);
    const at = position.appends ? node.bytes.length : position.at;
    this.#write(call, at);
    position.at = at + call.result;
  }

  #write(call: Call, at: number): void {
    const bytes = Buffer.concat(call.strings).subarray(0, call.result);
    this.#fileOf(call)?.change({ end: call.end, at, bytes });
  }

  #allocate(call: Call): void {
    const [mode, offset, length] = call.words.slice(-3).map(Number) as [number, number, number];
    const node = this.#fileOf(call);
    if (node === undefined) return;
    if (mode !== 0) throw new Error("such a fallocate is not known");
    if (offset + length > node.bytes.length) {
      node.change({ end: call.end, at: offset + length });
    }
  }

  #sync(call: Call): void {
    const node = this.#targetOf(call);
    if (node instanceof FolderNode) {
      for (const change of [...node.pending]) if (change.end < call.start) commitName(change);
    } else if (node !== undefined) {
      node.sync(call.start);
      const [path = ""] = call.files;
      if (this.follows(path)) this.#commitNames(node, call.start);
    }
    this.#changes = this.#changes.filter((change) => change.entries[0]?.folder.pending.has(change));
  }

  #commitNames(node: FileNode, begun: number): void {
    for (const change of this.#changes) {
      const isNamed = change.entries.some((entry) => entry.node === node);
      if (isNamed && change.end < begun) commitName(change);
    }
  }

  #rename(call: Call): void {
    const [from, to] = call.strings.map(String) as [string, string];
    const node = this.#node(from);
    if (this.#isHere(from) !== this.#isHere(to)) throw new Error(`${from} is renamed to ${to}`);
    if (node !== undefined) this.#change(call.end, [from, undefined], [to, node]);
  }

  #unname(call: Call): void {
    const path = `${call.strings[0]}`;
    if (this.#isHere(path)) this.#change(call.end, [path, undefined]);
  }

  #make(call: Call): void {
    const path = `${call.strings[0]}`;
    if (this.#isHere(path)) this.#change(call.end, [path, new FolderNode()]);
  }

  #link(call: Call): void {
    const [from, to] = call.strings.map(String) as [string, string];
    const node = this.#node(from);
    if (node !== undefined) this.#change(call.end, [to, node]);
  }
}

/** Writes what a cut has left into an empty folder. */
export function restore(remains: Remains, folder: string): void {
  for (const path of [...remains.keys()].sort()) {
    const file = remains.get(path);
    if (file === undefined) mkdirSync(join(folder, path), { recursive: true });
    else writeFileSync(join(folder, path), file.bytes);
  }
}
