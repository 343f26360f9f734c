import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { writeDurablySync } from "../../ops/durable-files.ts";

const FILE = "tessera.json";
/** Readable by all: models are not secret, and another account than that of the service may have fetched them. */
const READABLE_FILE = 0o644;

/** The origin of a model, written once all of its files are complete and verified. */
const Manifest = Type.Object({
  repository: Type.String(),
  /** The commit of the repository. */
  revision: Type.String(),
  files: Type.Array(
    Type.Object({ path: Type.String(), size: Type.Integer(), checksum: Type.String() }),
  ),
});
export type Manifest = Static<typeof Manifest>;

/** The manifest of a model's folder; undefined without one, as for a model that was copied by hand. */
export function readManifest(folder: string): Manifest | undefined {
  const path = join(folder, FILE);
  if (!existsSync(path)) return undefined;
  try {
    return Value.Decode(Manifest, JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  writeDurablySync(join(folder, FILE), text, { mode: READABLE_FILE });
}
