import type { Queryable } from "../db/client.ts";
import type { ImportDestination } from "../import/destination.ts";
import type { Embedder } from "../import/embedders/embedder.ts";
import type { FolderFile } from "../import/markdown/folder.ts";
import { countOtherEmbedders } from "../import/markdown/other-embedders.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";

/** Warns before an import whose embedder is not that of the files which stay as they are. */
export async function warnOfMixedEmbedders(
  io: Io,
  sql: Queryable,
  { project, environments, files }: ImportDestination & { readonly files: readonly FolderFile[] },
  embedder: Embedder,
): Promise<void> {
  const except = files.map(({ path }) => path);
  for (const environment of environments) {
    const scope = { project, environment, except };
    const { others } = await countOtherEmbedders(sql, scope, embedder.name);
    if (others === 0) continue;
    notice(
      io,
      `${environment} of ${project} has files that another embedder than ${embedder.name} has embedded: ` +
        "a search finds the ones or the others; import all of them with one embedder",
    );
  }
}
