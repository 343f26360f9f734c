import { join } from "node:path";
import type { BuildArtifact } from "bun";

const ENTRIES = ["page/main.tsx", "page/main.css"].map((name) => join(import.meta.dir, name));

/** The script and the styles of the page, each in one file, by name. */
export async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
  const { outputs } = await Bun.build({
    entrypoints: ENTRIES,
    target: "browser",
    minify: true,
    jsx: { runtime: "automatic", importSource: "preact" },
  });
  const read = async (file: BuildArtifact) =>
    [file.path.replace(/^.*\//, ""), new Uint8Array(await file.arrayBuffer())] as const;
  return new Map(await Promise.all(outputs.map(read)));
}
