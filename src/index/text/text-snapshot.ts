import { timed } from "../../ops/observability/long-tasks.ts";
import { SegmentReader } from "../segments/index.ts";
import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import type { TextProject } from "./text-project.ts";

/** The name of the part of a segment is its key with this suffix. */
const SUFFIX = ".segment";

/** Writes a project's text: the versions without text, and the segments, which are immutable. */
export async function writeTextSnapshot(
  project: TextProject,
  writer: PartWriter,
): Promise<readonly Part[]> {
  const segments = [...project.segments.values()];
  const plain = timed("versions without text", () =>
    Buffer.from(JSON.stringify(project.versionsWithoutText())),
  );
  const parts = [await writer.write(`plain-${crypto.randomUUID()}.json`, plain)];
  for (const { key, segment } of segments) {
    parts.push(await writer.write(key + SUFFIX, new Uint8Array(segment.buffer)));
  }
  return parts;
}

/** Reads the text of an empty project. Throws if it is damaged. */
export async function readTextSnapshot(project: TextProject, reader: PartReader): Promise<void> {
  const [plain, ...segments] = reader.parts;
  const withoutText = (await reader.read(plain)).toString();
  for (const part of segments) {
    const bytes = await reader.read(part);
    timed("restore a segment", () => {
      const buffer = new SharedArrayBuffer(bytes.byteLength);
      new Uint8Array(buffer).set(bytes);
      project.addSegment(part.name.slice(0, -SUFFIX.length), new SegmentReader(buffer));
    });
  }
  project.addWithoutText(JSON.parse(withoutText) as string[]);
}
