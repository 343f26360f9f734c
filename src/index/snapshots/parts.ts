import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checksum, type Part } from "../../../native/index.ts";
import { writeDurably } from "../../ops/durable-files.ts";

export type { Part } from "../../../native/index.ts";

/** Writes the parts of a snapshot next to those of the earlier one, which stays whole meanwhile. */
export class PartWriter {
  /** @param earlier the parts of the earlier snapshot, by name */
  constructor(
    readonly directory: string,
    private readonly earlier: ReadonlyMap<string, Part>,
  ) {}

  /** Writes a part durably, unless the earlier snapshot has it. A name always stands for the same bytes. */
  async write(name: string, bytes: Uint8Array): Promise<Part> {
    const path = join(this.directory, name);
    const earlier = this.earlier.get(name);
    if (earlier?.bytes === bytes.byteLength && sizeOf(path) === bytes.byteLength) return earlier;
    await writeDurably(path, bytes);
    return { name, bytes: bytes.byteLength, checksum: checksum(bytes) };
  }
}

/** Reads the parts of an index. */
export class PartReader {
  constructor(
    readonly directory: string,
    readonly parts: readonly Part[],
  ) {}

  /** Throws if the part is missing or damaged. */
  async read(part: Part | undefined): Promise<Buffer<ArrayBuffer>> {
    if (part === undefined) throw new Error("the manifest lacks a part");
    const bytes = await readFile(join(this.directory, part.name));
    if (bytes.length !== part.bytes) throw new Error(`${part.name} has a wrong size`);
    if (checksum(bytes) !== part.checksum) throw new Error(`${part.name} has a wrong checksum`);
    return bytes;
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size;
