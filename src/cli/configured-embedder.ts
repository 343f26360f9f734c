import {
  type ProjectEmbedder,
  type ProjectEmbedders,
  projectEmbedders,
} from "../embed/embedders/project-embedders.ts";
import { LocalModels } from "../embed/models/local-models.ts";
import { CommandError } from "./command-error.ts";
import { atEnd } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { notice, withoutControls } from "./output.ts";

interface Opened {
  readonly embedders: ProjectEmbedders;
  /** The messages about embedders that cannot be used. */
  readonly unusable: readonly string[];
}

const opened = new WeakMap<Io, Promise<Opened>>();

/** The embedders of the configuration. They close when the command ends. */
export async function openEmbedders(io: Io): Promise<Opened> {
  const embedders = opened.get(io) ?? openModels(io);
  opened.set(io, embedders);
  return await embedders;
}

async function openModels(io: Io): Promise<Opened> {
  const { embedders, dataDir } = configOf(io);
  const unusable: string[] = [];
  const models = await LocalModels.open(embedders, {
    dataDir,
    warn(message) {
      unusable.push(message);
      notice(io, message);
    },
  });
  atEnd(io, () => models.close());
  return { embedders: projectEmbedders(models.embedders, models.start), unusable };
}

/** The embedders of the configuration by name. */
export async function configuredEmbedders(io: Io): Promise<ProjectEmbedders> {
  return (await openEmbedders(io)).embedders;
}

/** The embedder of this name: the built-in one, or one that EMBEDDERS configures. */
export async function configuredEmbedder(io: Io, name: string): Promise<ProjectEmbedder> {
  const embedders = await configuredEmbedders(io);
  const embedder = embedders.get(name);
  if (embedder !== undefined) return embedder;
  const names = [...embedders.keys()].join(", ");
  throw new CommandError(
    `no embedder is called "${withoutControls(name)}": choose from ${names}, or add it to EMBEDDERS`,
  );
}
