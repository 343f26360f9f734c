import { fingerprintOf } from "../content/embeddings/store.ts";
import type { ImportDestination } from "../content/import/destination.ts";
import { countOtherEmbedders } from "../content/import/files/other-embedders.ts";
import type { Queryable, Sql } from "../db/client.ts";
import type { FolderFile } from "../documents/conversion/folder.ts";
import type { Embedder } from "../embed/embedders/embedder.ts";
import { embedderName, importEmbedder } from "../embed/embedders/project-embedders.ts";
import { HASHING } from "../ops/config/embedders.ts";
import { CommandError } from "./command-error.ts";
import { configuredEmbedder, configuredEmbedders } from "./configured-embedder.ts";
import type { Project } from "./database.ts";
import {
  createEmbedder,
  createWorkingEmbedder,
  type EmbedderOptions,
  usesHashing,
} from "./embedder-options.ts";
import type { Io } from "./io.ts";
import { notice } from "./output.ts";

interface ChosenEmbedder {
  readonly embedder: Embedder;
  /** The fingerprint of the embedder that a new project gets; undefined for none. */
  readonly newEmbedder?: string | undefined;
}

/**
 * The embedder of an import: that of the project, if it has one. A new project gets the named one; for a folder, the
 * default is `hashing`. A project without an embedder keeps none, and the options choose the embedder of the texts.
 *
 * @param project undefined if it will be created
 */
export async function chooseEmbedder(
  io: Io,
  sql: Sql,
  project: Project | undefined,
  options: EmbedderOptions & { readonly embedder?: string | undefined; readonly markdown?: string },
): Promise<ChosenEmbedder> {
  const { embedder: given, markdown } = options;
  const isOther = !usesHashing(options) || options.embedDimension !== undefined;
  const later = (reason: string) =>
    notice(io, `${reason}: the service embeds the files once it can`);
  if (project === undefined) {
    // Rows may come with embeddings of any embedder.
    const name = given ?? (markdown === undefined || isOther ? undefined : HASHING);
    if (name === undefined) return { embedder: await createWorkingEmbedder(io, options) };
    const embedder = await configuredEmbedder(io, name);
    const { fingerprint } = embedder;
    return { embedder: importEmbedder(fingerprint, embedder, later), newEmbedder: fingerprint };
  }
  const own = await fingerprintOf(sql, project.id);
  if (own === null) {
    if (given !== undefined) {
      throw new CommandError(`${project.slug} has no embedder: see \`embeddings rebuild --help\``);
    }
    return { embedder: await createWorkingEmbedder(io, options) };
  }
  const other = isOther ? createEmbedder(io, options).name : given;
  if (other !== undefined && other !== embedderName(own)) {
    throw new CommandError(`the embedder of ${project.slug} is ${own}, and not ${other}`);
  }
  const known = (await configuredEmbedders(io)).get(embedderName(own));
  if (known?.fingerprint === own) return { embedder: importEmbedder(own, known, later) };
  later(`the embedder ${own} is not configured here`);
  return { embedder: importEmbedder(own, undefined, later) };
}

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
