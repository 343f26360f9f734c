import { checksum, type Part } from "../../../native/index.ts";
import type { Position } from "../../domain/position.ts";
import { wordTables } from "../segments/index.ts";

/**
 * The version of the manifest and of the parts of all indexes. Raise it whenever the layout or the meaning of any of them
 * changes, such as the tokens, stems or impacts of texts. A snapshot of another version is refused and rebuilt from the
 * database, so an upgrade never reads bytes that it would misunderstand.
 */
export const SNAPSHOT_FORMAT = 2;

/** A name that does not lead out of the directory. */
const PART_NAME = /^[a-z0-9][\w.-]*$/;

/** The state of the database that a snapshot was made from. */
export interface Origin {
  readonly databaseId: string;
  /** A position that identifies the change log. */
  readonly anchor: Position;
  /** Changes up to this one are in the snapshot. */
  readonly seq: number;
}

/** Describes the snapshot of a project. */
export interface Manifest extends Origin {
  /** For each index, by its name, the parts in its own order. */
  readonly parts: Readonly<Record<string, readonly Part[]>>;
}

interface Contents extends Manifest {
  readonly projectId: string;
  /** The version of the tables of characters by which the words of texts were read. */
  readonly words: string;
}

interface ManifestFile {
  readonly format: number;
  /** Of the JSON text of the contents. */
  readonly checksum: string;
  readonly contents: Contents;
}

/** A snapshot is whole, and this build would misunderstand it. */
export class OtherVersion extends Error {
  constructor(found: number | string, expected: number | string) {
    super(`format version ${found}, this build reads ${expected}`);
  }
}

const checksumOf = (contents: Contents) => checksum(Buffer.from(JSON.stringify(contents)));

export function encodeManifest(projectId: string, manifest: Manifest): Uint8Array {
  const contents: Contents = { projectId, words: wordTables, ...manifest };
  const file: ManifestFile = { format: SNAPSHOT_FORMAT, checksum: checksumOf(contents), contents };
  return Buffer.from(JSON.stringify(file));
}

/** Throws OtherVersion, or another error if the manifest is damaged or of another project. */
export function decodeManifest(projectId: string, text: string): Manifest {
  const file = JSON.parse(text) as ManifestFile;
  const { format, contents } = file;
  if (format !== SNAPSHOT_FORMAT) throw new OtherVersion(format, SNAPSHOT_FORMAT);
  if (file.checksum !== checksumOf(contents)) throw new Error("the manifest has a wrong checksum");
  if (contents.words !== wordTables) throw new OtherVersion(contents.words, wordTables);
  if (contents.projectId !== projectId) throw new Error("the manifest is of another project");
  for (const { name } of Object.values(contents.parts).flat()) {
    if (!PART_NAME.test(name)) throw new Error(`the manifest names the part ${name}`);
  }
  return contents;
}
