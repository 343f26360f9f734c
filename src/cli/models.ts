import { rmSync } from "node:fs";
import { type Command, Option } from "commander";
import { pullModel } from "../embed/models/hub/pull.ts";
import { installRuntime } from "../embed/models/install-runtime.ts";
import { embedderNameOf, installedModels } from "../embed/models/installed.ts";
import { PRESETS } from "../embed/models/presets.ts";
import { findRuntime } from "../embed/models/runtime.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { confirm } from "./confirm.ts";
import { changeDatabase } from "./database.ts";
import { rebuildProject } from "./embeddings.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { modelTestCommand } from "./model-test.ts";
import { url } from "./options.ts";
import { type Column, notice, print, printList } from "./output.ts";
import { withBar } from "./progress.ts";

const BYTES_PER_MB = 1_000_000;
const MODEL_HUB = "https://huggingface.co";

const inMegabytes = (bytes: number) => `${(bytes / BYTES_PER_MB).toFixed(1)} MB`;

export function modelsCommand(io: Io): Command {
  return newGroup("models", "Manage models that the service runs itself.", [
    pullCommand(io),
    listCommand(io),
    removeCommand(io),
    modelTestCommand(io),
    installCommand(io),
  ]);
}

function installCommand(io: Io): Command {
  return newCommand("models install").action(async () => {
    print(io, await ensureRuntime(io));
  });
}

async function ensureRuntime(io: Io): Promise<string> {
  const { dataDir } = configOf(io);
  if (findRuntime(dataDir) === undefined) notice(io, "installing ONNX Runtime, 114 MB");
  return await installRuntime(dataDir);
}

interface PullOptions {
  readonly revision: string;
  readonly hub: string;
  readonly project?: string;
}

function pullCommand(io: Io): Command {
  return newCommand("models pull")
    .argument("<name>", "a name below, or owner/name of a repository")
    .option("--revision <name>", "branch, tag or commit", "main")
    .addOption(
      new Option("--hub <url>", "the hub, or a mirror of it").argParser(url).default(MODEL_HUB),
    )
    .option("--project <slug>", "then embed this project by the model")
    .addHelpText("after", () => `\nNames: ${Object.keys(PRESETS).join(", ")}`)
    .action(async (name: string, options: PullOptions) => {
      await pull(io, name, options);
    });
}

async function pull(io: Io, name: string, options: PullOptions): Promise<void> {
  const { revision, project } = options;
  const hub = options.hub.replace(/\/+$/, "");
  const { dataDir } = configOf(io);
  await ensureRuntime(io);
  const format = "fetching {bar} {percentage}% | {value} of {total} bytes | {eta_formatted} left";
  const goesOn = () => "the same command goes on where it was";
  const { repository, revision: commit } = await interruptible(goesOn, () =>
    withBar(io.stderr, format, (bar) =>
      pullModel(
        { hub, dataDir, name, revision },
        {
          onStart(commit, bytes) {
            notice(io, `fetching ${inMegabytes(bytes)} at the commit ${commit}`);
            bar?.start(bytes, 0);
          },
          onBytes: (bytes) => bar?.increment(bytes),
        },
      ),
    ),
  );
  print(io, `${name} is there: ${repository} at ${commit}`);
  const embedder = embedderNameOf(name);
  if (project !== undefined) {
    await changeDatabase(io, (sql) => rebuildProject(io, sql, { project, embedder }));
  }
  notice(io, `start the service again, which then has the embedder ${embedder}`);
}

type Row = ReturnType<typeof installedModels>[number];

const COLUMNS: readonly Column<Row>[] = [
  ["name", ({ name }) => name],
  ["model", ({ onnx }) => onnx ?? "not complete"],
  ["size", ({ bytes }) => inMegabytes(bytes)],
  ["from", ({ manifest }) => manifest?.repository ?? "brought by hand"],
  ["commit", ({ manifest }) => manifest?.revision ?? "-"],
];

function listCommand(io: Io): Command {
  return newCommand("models list", "json").action(({ json }: Flags) => {
    const rows = installedModels(configOf(io).dataDir);
    printList(io, rows, COLUMNS, {
      json,
      empty: "there are no models: `./tessera models pull` fetches one",
    });
  });
}

function removeCommand(io: Io): Command {
  return newCommand("models remove", "yes")
    .argument("<name>", "a name of `models list`")
    .action(async (name: string, { yes }: Flags) => {
      const models = installedModels(configOf(io).dataDir);
      const model = models.find((each) => each.name === name);
      if (model === undefined) {
        throw new CommandError(`unknown model "${name}": \`./tessera models list\` lists them`);
      }
      const { folder, bytes } = model;
      await confirm(io, `Remove ${folder} with ${inMegabytes(bytes)}?`, yes);
      rmSync(folder, { recursive: true });
      print(io, `removed ${name}`);
    });
}
