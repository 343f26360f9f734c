import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DISK_FORMATS, otherFormat } from "../../domain/disk-formats.ts";
import { PRIVATE_DIRECTORY, writeDurably } from "../../ops/durable-files.ts";
import { timed } from "../../ops/observability/long-tasks.ts";
import { openSegment, wordTables } from "../segments/index.ts";
import { requireChanges } from "../snapshots/position.ts";
import type { TextProject } from "./text-project.ts";

const FORMAT = DISK_FORMATS.textManifest;
const MANIFEST = "text.json";
const SUFFIX = ".segment";

/** The manifest: everything but the segments, which are immutable files of their own. */
interface Contents {
  readonly format: number;
  /** The version of the tables by which the words of the segments were read. */
  readonly words: string;
  /** Changes up to this one are in it. */
  readonly seq: number;
  /** The keys of the segments. */
  readonly segments: readonly string[];
  /** Versions without text. */
  readonly plain: readonly string[];
}

/** A line with the checksum of the text that follows it. */
function checksumLine(text: string): string {
  return `${Bun.hash.crc32(text).toString(16).padStart(8, "0")}\n`;
}

/** The manifest's text with its checksum in front, so that damage is detected. */
function encodeManifest(contents: Contents): Uint8Array {
  const text = JSON.stringify(contents);
  return Buffer.from(checksumLine(text) + text);
}

function decodeManifest(file: string): Contents {
  const end = file.indexOf("{");
  const text = file.slice(end);
  if (end < 0 || checksumLine(text) !== file.slice(0, end)) {
    throw new Error("the manifest of the text segments is damaged");
  }
  const contents = JSON.parse(text) as Contents;
  if (contents.format !== FORMAT) {
    throw new Error(otherFormat(contents.format, FORMAT));
  }
  if (contents.words !== wordTables) throw new Error(otherFormat(contents.words, wordTables));
  return contents;
}

/** The project as it is now. */
function contentsOf(project: TextProject, seq: number): Contents {
  const segments = [...project.segments.keys()];
  return { format: FORMAT, words: wordTables, seq, segments, plain: project.versionsWithoutText() };
}

/** Writes a project's text durably. Segments that were written before are not written again. */
export async function writeTextSnapshot(
  project: TextProject,
  directory: string,
  seq: number,
): Promise<void> {
  const segments = new Map(project.segments);
  const manifest = timed("text manifest", () => encodeManifest(contentsOf(project, seq)));
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  for (const [key, { segment }] of segments) {
    const path = join(directory, key + SUFFIX);
    const bytes = new Uint8Array(segment.buffer);
    if (existsSync(path) && statSync(path).size === bytes.byteLength) continue;
    await writeDurably(path, bytes);
  }
  await writeDurably(join(directory, MANIFEST), manifest);
  // From now on no manifest refers to the older segments.
  for (const file of await readdir(directory)) {
    const stale = file.endsWith(SUFFIX) && !segments.has(file.slice(0, -SUFFIX.length));
    if (stale) await rm(join(directory, file), { force: true });
  }
}

/** Reads the text of an empty project; false without a snapshot. Throws if it is damaged or lacks changes up to `seq`. */
export async function readTextSnapshot(
  project: TextProject,
  directory: string,
  seq: number,
): Promise<boolean> {
  const path = join(directory, MANIFEST);
  if (!existsSync(path)) return false;
  const contents = decodeManifest(await readFile(path, "utf8"));
  requireChanges(contents.seq, seq);
  for (const key of contents.segments) {
    const bytes = await readFile(join(directory, key + SUFFIX));
    timed("restore a segment", () => {
      const buffer = new SharedArrayBuffer(bytes.byteLength);
      new Uint8Array(buffer).set(bytes);
      project.addSegment(key, openSegment(buffer));
    });
  }
  project.addWithoutText(contents.plain);
  return true;
}
