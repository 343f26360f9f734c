import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { writeDurablySync } from "../shared/durable-files.ts";

const FILE = "tessera.json";
/** Models are no secret, and another account may have fetched them than the one of the service. */
const READABLE_FILE = 0o644;

/** Where a model is from: written once all of its files are there and right. */
const Manifest = Type.Object({
  repository: Type.String(),
  /** The commit of the repository. */
  revision: Type.String(),
  files: Type.Array(
    Type.Object({ path: Type.String(), size: Type.Integer(), checksum: Type.String() }),
  ),
});
export type Manifest = Static<typeof Manifest>;

/** The manifest of a model's folder; undefined if it has none, as one that was brought by hand. */
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
