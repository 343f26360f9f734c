import { type ProjectEmbedder, projectEmbedders } from "../import/embedders/project-embedders.ts";
import { CommandError } from "./command-error.ts";
import { configOf, type Io } from "./io.ts";
import { withoutControls } from "./output.ts";

/** The embedder of this name: the built-in one, or one that EMBEDDERS configures. */
export function configuredEmbedder(io: Io, name: string): ProjectEmbedder {
  const embedders = projectEmbedders(configOf(io).embedders);
  const embedder = embedders.get(name);
  if (embedder !== undefined) return embedder;
  const names = [...embedders.keys()].join(", ");
  throw new CommandError(
    `no embedder is called "${withoutControls(name)}": choose from ${names}, or add it to EMBEDDERS`,
  );
}
