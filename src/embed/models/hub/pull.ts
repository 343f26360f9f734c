import { mkdirSync, statfsSync } from "node:fs";
import { type Manifest, readManifest, writeManifest } from "../manifest.ts";
import { ModelError } from "../model-error.ts";
import { folderOf, neededFiles, repositoryOf } from "../model-folder.ts";
import { PRESETS } from "../presets.ts";
import { download } from "./download.ts";
import { type HubFile, readRevision } from "./listing.ts";

interface Pull {
  readonly hub: string;
  readonly dataDir: string;
  readonly name: string;
  /** A branch, a tag or a commit of the repository. */
  readonly revision: string;
}

interface PullListener {
  /** The commit, and the bytes of all files. */
  onStart(commit: string, bytes: number): void;
  /** Additional bytes that were received; negative if a file begins again. */
  onBytes(bytes: number): void;
}

/**
 * Fetches a model from a hub into DATA_DIR/models. The revision is resolved to a commit first, and every file is
 * compared with the checksum that the hub states for it. An interrupted download is resumed. Throws a ModelError.
 */
export async function pullModel(
  { hub, dataDir, name, revision }: Pull,
  listener: PullListener,
): Promise<Manifest> {
  const repository = repositoryOf(name);
  if (repository === undefined) {
    const known = Object.keys(PRESETS).join(", ");
    throw new ModelError(`no model is called "${name}": choose from ${known}, or give owner/name`);
  }
  const { commit, files: all } = await readRevision(hub, repository, revision);
  const paths = neededFiles(all.map(({ path }) => path));
  if (paths === undefined) {
    throw new ModelError(`${repository} has no ONNX model with a tokenizer.json`);
  }
  const files = paths.map((path) => all.find((file) => file.path === path) as HubFile);
  const folder = folderOf(name, dataDir);
  makeFolder(folder, files, readManifest(folder));
  listener.onStart(
    commit,
    files.reduce((sum, { size }) => sum + size, 0),
  );
  for (const file of files) {
    const path = file.path.split("/").map(encodeURIComponent).join("/");
    const url = `${hub}/${repository}/resolve/${commit}/${path}`;
    await download({ url, file, folder, onBytes: listener.onBytes });
  }
  const manifest = { repository, revision: commit, files };
  writeManifest(folder, manifest);
  return manifest;
}

/**
 * Throws before the download if the disk is too small. A present model is not checked, because its files may be kept.
 */
function makeFolder(folder: string, files: readonly HubFile[], present: Manifest | undefined) {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new ModelError(`${folder} cannot be created: ${(error as Error).message}`);
  }
  const { bavail, bsize } = statfsSync(folder);
  const largest = Math.max(...files.map(({ size }) => size));
  if (present === undefined && largest > bavail * bsize) {
    throw new ModelError(`the disk has no room for a file of ${largest} bytes in ${folder}`);
  }
}
