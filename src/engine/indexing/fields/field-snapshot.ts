import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DISK_FORMATS } from "../../../shared/disk-formats.ts";
import { INDEX_META_SLICE_VERSIONS } from "../../../shared/limits.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../snapshots/write-durably.ts";
import { FieldProject } from "./field-project.ts";
import type { VersionFields } from "./version-fields.ts";

const FORMAT = DISK_FORMATS.versionFields;
const FILE = "fields.ndjson";

/** The first line; the others are one per version, in the order of their numbers. */
interface Head {
  readonly format: number;
  /** The checksum of the lines of the versions. */
  readonly crc: number;
  readonly scopes: ReadonlyArray<[id: string, bits: string]>;
}

type Line = [id: string, path: string, frontmatter: string, dimensions: number[], metadata: string];

function encoded(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("base64");
}

function decoded(text: string): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
}

function lineOf({ id, path, frontmatter, dimensions, metadata }: VersionFields): string {
  const line: Line = [id, path, frontmatter, [...dimensions], metadata];
  return `${JSON.stringify(line)}\n`;
}

/** Writes a project's fields durably. Lets other work run in between. */
export async function writeFieldSnapshot(project: FieldProject, directory: string): Promise<void> {
  // Taken first: every version that a scope names is among those that follow, which only grow.
  const { count } = project;
  const scopes = [...project.scopes].map(([id, bits]): [string, string] => [id, encoded(bits)]);
  const pieces: Buffer[] = [];
  let crc = 0;
  for (let at = 0; at < count; at += INDEX_META_SLICE_VERSIONS) {
    const end = Math.min(count, at + INDEX_META_SLICE_VERSIONS);
    let text = "";
    for (let number = at; number < end; number++) text += lineOf(project.version(number));
    const piece = Buffer.from(text);
    crc = Bun.hash.crc32(piece, crc);
    pieces.push(piece);
    await Bun.sleep(0);
  }
  const head: Head = { format: FORMAT, crc, scopes };
  const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...pieces]);
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeDurably(join(directory, FILE), bytes);
}

/** Reads a project's fields; null when there is no snapshot. Throws when it is damaged. */
export async function readFieldSnapshot(directory: string): Promise<FieldProject | null> {
  const path = join(directory, FILE);
  if (!existsSync(path)) return null;
  const bytes = await readFile(path);
  const start = bytes.indexOf(0x0a) + 1;
  const { format, crc, scopes } = JSON.parse(bytes.toString("utf8", 0, start)) as Head;
  if (format !== FORMAT) throw new Error(`the format is ${format}, expected ${FORMAT}`);
  if (Bun.hash.crc32(bytes.subarray(start)) !== crc) throw new Error("the fields are damaged");
  const project = new FieldProject();
  for (let at = start; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const line = JSON.parse(bytes.toString("utf8", at, end)) as Line;
    const [id, filePath, frontmatter, dimensions, metadata] = line;
    const values = { frontmatter, dimensions: Uint16Array.from(dimensions), metadata };
    project.add({ id, path: filePath, ...values });
    at = end + 1;
    if (project.count % INDEX_META_SLICE_VERSIONS === 0) await Bun.sleep(0);
  }
  for (const [id, bits] of scopes) project.scopes.set(id, decoded(bits));
  return project;
}
