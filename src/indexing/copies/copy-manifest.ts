import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DISK_FORMATS } from "../../shared/disk-formats.ts";
import { CopyFailure } from "./copy-failure.ts";

/** The name of a piece: the SHA-256 of its bytes, and something random if that name was given before. */
const PIECE_NAME = "^[0-9a-f]{64}(\\.[0-9a-f]{8})?$";
/** Files are directly in the folder of a project, or in that of one of its indexes. */
const FILE_PATH = "^([a-z]{1,16}/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$";

/** A piece is held in memory as a whole. */
export const PIECE_BYTES = 8 * 1024 * 1024;

const Piece = Type.Object({
  name: Type.String({ pattern: PIECE_NAME }),
  bytes: Type.Integer({ minimum: 1, maximum: PIECE_BYTES }),
});
export type Piece = Static<typeof Piece>;

const CopiedFile = Type.Object({
  path: Type.String({ pattern: FILE_PATH }),
  pieces: Type.Array(Piece),
});
export type CopiedFile = Static<typeof CopiedFile>;

/** Describes the copy of a project's snapshot. It is written last, so it names only what is there. */
const CopyManifest = Type.Object({
  /** The versions of everything in it. */
  formats: Type.String(),
  databaseId: Type.String(),
  projectId: Type.String(),
  /** Its place in the change log, as in the manifest of the snapshot. */
  anchor: Type.Object({ seq: Type.Number(), at: Type.String() }),
  seq: Type.Number(),
  files: Type.Array(CopiedFile),
  /** Pieces that are not used any more, and since when in milliseconds: readers may have begun before. */
  retired: Type.Record(Type.String({ pattern: PIECE_NAME }), Type.Number()),
});
export type CopyManifest = Static<typeof CopyManifest>;

/** Versions that write or read anything else never use each other's copies. */
const FORMATS = Object.values(DISK_FORMATS).join(".");

export function sha256Of(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** The manifest in JSON, below a line with its checksum. */
export function encodeCopyManifest(
  contents: Omit<CopyManifest, "formats">,
): Uint8Array<ArrayBuffer> {
  const manifest: CopyManifest = { formats: FORMATS, ...contents };
  const text = JSON.stringify(manifest);
  return new TextEncoder().encode(`${sha256Of(text)}\n${text}`);
}

/** Null when another version has written it. Throws a `CopyFailure` when it is damaged or of another project. */
export function decodeCopyManifest(
  bytes: Buffer,
  databaseId: string,
  projectId: string,
): CopyManifest | null {
  const [checksum, text = ""] = bytes.toString("utf8").split("\n", 2);
  if (checksum !== sha256Of(text)) throw new CopyFailure("damaged", "the manifest is damaged");
  const manifest: unknown = JSON.parse(text);
  // Another version may have another layout.
  if ((manifest as Partial<CopyManifest>).formats !== FORMATS) return null;
  if (!Value.Check(CopyManifest, manifest)) {
    throw new CopyFailure("damaged", "the manifest has another layout");
  }
  if (manifest.databaseId !== databaseId || manifest.projectId !== projectId) {
    throw new CopyFailure("damaged", "the manifest is of another project");
  }
  return manifest;
}
