import { rmSync } from "node:fs";
import { Command } from "commander";
import { pullModel } from "../models/hub/pull.ts";
import { installRuntime } from "../models/install-runtime.ts";
import { embedderNameOf, installedModels } from "../models/installed.ts";
import { PRESETS } from "../models/presets.ts";
import { findRuntime } from "../models/runtime.ts";
import { CommandError } from "./command-error.ts";
import { confirm, yesOption } from "./confirm.ts";
import { changeDatabase } from "./database.ts";
import { rebuildProject } from "./embeddings.ts";
import { interruptible } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";
import { modelTestCommand } from "./model-test.ts";
import { type Column, jsonOption, notice, print, printList } from "./output.ts";
import { progressBar } from "./progress-bar.ts";

const BYTES_PER_MB = 1_000_000;

const inMegabytes = (bytes: number) => `${(bytes / BYTES_PER_MB).toFixed(1)} MB`;

export function modelsCommand(io: Io): Command {
  return new Command("models")
    .description("Manage models that the service runs itself.")
    .addCommand(pullCommand(io))
    .addCommand(listCommand(io))
    .addCommand(removeCommand(io))
    .addCommand(modelTestCommand(io))
    .addCommand(installCommand(io));
}

function installCommand(io: Io): Command {
  return new Command("install")
    .description(
      "Install what runs models within the service, which other installations do not need.",
    )
    .addHelpText(
      "after",
      `
Fetches ONNX Runtime from the package registry, by a pinned version with its checksum: about 114 MB, of which
47 MB stay. It goes to Tessera's own folder, or to DATA_DIR/models where that cannot be written to. \`models pull\`
does so, too.

Examples:
  ./tessera models install`,
    )
    .action(async () => {
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
  readonly project?: string;
}

function pullCommand(io: Io): Command {
  return new Command("pull")
    .description("Fetch a model into DATA_DIR/models, and what runs it.")
    .argument("<name>", "a name below, or owner/name of a repository")
    .option("--revision <name>", "branch, tag or commit", "main")
    .option("--project <slug>", "then embed this project by the model")
    .addHelpText(
      "after",
      `
From Hugging Face, or a mirror that HF_ENDPOINT names. The revision is resolved to a commit, which is recorded
with the checksum of every file (tessera.json in the folder of the model). An interrupted download goes on where it
was. The service, once started again, has the model as an embedder of its name. The service itself never fetches
anything: without a network, bring a folder by hand (docs/models.md).

Names: ${Object.keys(PRESETS).join(", ")}

Examples:
  ./tessera models pull multilingual-e5-small --project demo
  HF_ENDPOINT=https://mirror.example.com ./tessera models pull Xenova/all-MiniLM-L12-v2`,
    )
    .action(async (name: string, options: PullOptions) => {
      await pull(io, name, options);
    });
}

async function pull(io: Io, name: string, { revision, project }: PullOptions): Promise<void> {
  const { dataDir, modelHub: hub } = configOf(io);
  await ensureRuntime(io);
  const bar = progressBar(
    io.stderr,
    "fetching {bar} {percentage}% | {value} of {total} bytes | {eta_formatted} left",
  );
  try {
    const goesOn = () => "the same command goes on where it was";
    const { repository, revision: commit } = await interruptible(goesOn, () =>
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
    );
    bar?.stop();
    print(io, `${name} is there: ${repository} at ${commit}`);
  } finally {
    bar?.stop();
  }
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
  return new Command("list")
    .description("List the models in DATA_DIR/models.")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera models list")
    .action(({ json }: { json?: boolean }) => {
      const rows = installedModels(configOf(io).dataDir);
      printList(io, rows, COLUMNS, {
        json,
        empty: "there are no models: `./tessera models pull` fetches one",
      });
    });
}

function removeCommand(io: Io): Command {
  return new Command("remove")
    .description("Remove a model from DATA_DIR/models.")
    .argument("<name>", "a name of `models list`")
    .addOption(yesOption())
    .addHelpText(
      "after",
      "\nProjects that were embedded by it are searched by words until they have another embedder.\n\nExamples:\n  ./tessera models remove bge-small-en-v1.5 --yes",
    )
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const models = installedModels(configOf(io).dataDir);
      const model = models.find((each) => each.name === name);
      if (model === undefined) {
        throw new CommandError(`there is no model "${name}": \`./tessera models list\` lists them`);
      }
      const { folder, bytes } = model;
      await confirm(io, `Remove ${folder} with ${inMegabytes(bytes)}?`, yes);
      rmSync(folder, { recursive: true });
      print(io, `removed ${name}`);
    });
}
