import {
  type ProjectEmbedder,
  type ProjectEmbedders,
  projectEmbedders,
} from "../import/embedders/project-embedders.ts";
import { LocalModels } from "../models/local-models.ts";
import { CommandError } from "./command-error.ts";
import { atEnd } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { notice, withoutControls } from "./output.ts";

const opened = new WeakMap<Io, Promise<ProjectEmbedders>>();
const unusable = new WeakMap<Io, string[]>();

/** The embedders of the configuration by name. They close when the command ends. */
export async function configuredEmbedders(io: Io): Promise<ProjectEmbedders> {
  const embedders = opened.get(io) ?? openEmbedders(io);
  opened.set(io, embedders);
  return await embedders;
}

async function openEmbedders(io: Io): Promise<ProjectEmbedders> {
  const { embedders, dataDir } = configOf(io);
  const models = await LocalModels.open(embedders, {
    dataDir,
    warn(message) {
      unusable.set(io, [...(unusable.get(io) ?? []), message]);
      notice(io, message);
    },
  });
  atEnd(() => models.close());
  return projectEmbedders(models.embedders, models.start);
}

/** The messages about embedders that cannot be used. */
export async function unusableEmbedders(io: Io): Promise<readonly string[]> {
  await configuredEmbedders(io);
  return unusable.get(io) ?? [];
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
