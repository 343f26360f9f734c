import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { openSegment } from "../knowledge/text/index.ts";
import { writeDurably } from "./durable.ts";
import { TextProject } from "./text-project.ts";

const FORMAT = 1;
const MANIFEST = "text.json";
const SUFFIX = ".segment";

/** The manifest: everything but the segments, which are files of their own and never change. */
interface Contents {
  readonly format: number;
  readonly segments: ReadonlyArray<{ key: string; dead: string }>;
  readonly plain: readonly string[];
  readonly scopes: ReadonlyArray<{ id: string; words: ReadonlyArray<[key: string, bits: string]> }>;
}

function encoded(words: Uint32Array): string {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength).toString("base64");
}

function decoded(text: string): Uint32Array {
  const bytes = Buffer.from(text, "base64");
  const words = new Uint32Array(new SharedArrayBuffer(bytes.byteLength));
  new Uint8Array(words.buffer).set(bytes);
  return words;
}

/** A line with the checksum of the text that follows it. */
function sealOf(text: string): string {
  return `${Bun.hash.crc32(text).toString(16).padStart(8, "0")}\n`;
}

/** The manifest's text behind its checksum, so that a damaged one shows. */
function sealed(contents: Contents): Uint8Array {
  const text = JSON.stringify(contents);
  return Buffer.from(sealOf(text) + text);
}

function unsealed(file: string): Contents {
  const end = file.indexOf("{");
  const text = file.slice(end);
  if (end < 0 || sealOf(text) !== file.slice(0, end)) {
    throw new Error("the list of text segments is damaged");
  }
  const contents = JSON.parse(text) as Contents;
  if (contents.format !== FORMAT) throw new Error(`format ${contents.format} instead of ${FORMAT}`);
  return contents;
}

/** Writes a project's text durably; segments that stand there already are left as they are. */
export function writeTextSnapshot(project: TextProject, directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const { key, segment } of project.segments.values()) {
    const path = join(directory, key + SUFFIX);
    const bytes = new Uint8Array(segment.buffer);
    if (existsSync(path) && statSync(path).size === bytes.byteLength) continue;
    writeDurably(path, bytes);
  }
  const scopes = [...project.scopes].map(([id, words]) => ({
    id,
    words: [...words].map(([key, bits]): [string, string] => [key, encoded(bits)]),
  }));
  const segments = [...project.segments.values()].map(({ key, dead }) => ({
    key,
    dead: encoded(dead),
  }));
  const contents = { format: FORMAT, segments, plain: project.plainVersions(), scopes };
  writeDurably(join(directory, MANIFEST), sealed(contents));
  // Only now does no manifest name the older segments.
  for (const file of readdirSync(directory)) {
    const stale = file.endsWith(SUFFIX) && !project.segments.has(file.slice(0, -SUFFIX.length));
    if (stale) rmSync(join(directory, file), { force: true });
  }
}

/** Reads a project's text; null when there is no snapshot. Throws when it is damaged. */
export function readTextSnapshot(directory: string): TextProject | null {
  const path = join(directory, MANIFEST);
  if (!existsSync(path)) return null;
  const contents = unsealed(readFileSync(path, "utf8"));
  const project = new TextProject();
  for (const { key, dead } of contents.segments) {
    const bytes = readFileSync(join(directory, key + SUFFIX));
    const buffer = new SharedArrayBuffer(bytes.byteLength);
    new Uint8Array(buffer).set(bytes);
    project.addSegment(key, openSegment(buffer), decoded(dead));
  }
  project.addPlain(contents.plain);
  for (const { id, words } of contents.scopes) {
    project.restoreScope(id, new Map(words.map(([key, bits]) => [key, decoded(bits)])));
  }
  return project;
}
