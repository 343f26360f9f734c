import type { Static } from "@sinclair/typebox";
import { Command } from "commander";
import type { EnvironmentItem, ReleaseItem } from "../api/projects/schema.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { Operations } from "./call-operation.ts";
import { inWords } from "./command-error.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import { noWaitOption, untilSearchable } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { type Column, jsonOption, notice, printList, shortTime } from "./output.ts";

const RELEASES: readonly Column<Static<typeof ReleaseItem>>[] = [
  ["release", (release) => release.name],
  ["files", (release) => String(release.files)],
  ["frozen", (release) => shortTime(release.frozen_at)],
  ["served by", (release) => release.environments.join(",") || "-"],
];

const ENVIRONMENTS: readonly Column<Static<typeof EnvironmentItem>>[] = [
  ["environment", (environment) => environment.name],
  ["serves", (environment) => environment.active_release ?? "its working set"],
  ["files", (environment) => String(environment.files)],
  ["protected", (environment) => (environment.protected ? "yes" : "no")],
];

interface ListOptions {
  readonly project: string;
  readonly json?: boolean;
}

interface ChangeOptions {
  readonly project: string;
  readonly wait: boolean;
}

/** All rows of a list of a project. */
async function rowsOf<Row>(io: Io, operation: string, project: string): Promise<Row[]> {
  return await withDatabase(io, async (sql) => {
    const { id } = await findProject(sql, project);
    return await (await Operations.open(sql)).list(operation, { project_reference: id });
  });
}

/** Calls an operation of a project, reports the change and waits until searches see it. */
async function change(
  io: Io,
  { project, wait }: ChangeOptions,
  { operation, params = {}, body }: { operation: string; params?: object; body: object },
  words: (slug: string) => Parameters<typeof inWords>[1] & { readonly done: string },
): Promise<void> {
  await changeDatabase(io, async (sql) => {
    const { id, slug } = await findProject(sql, project);
    const { done, ...messages } = words(slug);
    const operations = await Operations.open(sql);
    const call = { params: { project_reference: id, ...params }, body };
    await inWords(operations.call(operation, call), messages);
    notice(io, done);
    await untilSearchable(io, sql, [id], wait);
  });
}

export function releasesCommand(io: Io): Command {
  const list = new Command("list")
    .description("List the releases of a project.")
    .requiredOption("--project <slug>", "the project")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera releases list --project handbook")
    .action(async ({ project, json }: ListOptions) => {
      const releases = await rowsOf<Static<typeof ReleaseItem>>(io, "listReleases", project);
      const empty = "the project has no releases";
      printList(io, releases.toReversed(), RELEASES, { json, empty });
    });
  const create = new Command("create")
    .description("Freeze the working set of an environment as a release.")
    .argument("<name>", "name of the release, such as v1.4.0")
    .requiredOption("--project <slug>", "the project")
    .option("--environment <name>", "the environment", "production")
    .addOption(noWaitOption())
    .addHelpText("after", "\nExamples:\n  ./tessera releases create v1.4.0 --project handbook")
    .action(async (name: string, options: ChangeOptions & { readonly environment: string }) => {
      const { environment } = options;
      const call = { operation: "createRelease", body: { name, environment } };
      await change(io, options, call, (slug) => ({
        "release-name-taken": `${slug} has a release "${abbreviate(name)}" already`,
        "environment-not-found": `${slug} has no environment "${abbreviate(environment)}"`,
        done: `created ${name} from the working set of ${environment}`,
      }));
    });
  return new Command("releases")
    .description("Manage releases.")
    .addCommand(list)
    .addCommand(create);
}

export function environmentsCommand(io: Io): Command {
  const list = new Command("list")
    .description("List the environments of a project and what they serve.")
    .requiredOption("--project <slug>", "the project")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera environments list --project handbook")
    .action(async ({ project, json }: ListOptions) => {
      const environments = await rowsOf<Static<typeof EnvironmentItem>>(
        io,
        "listEnvironments",
        project,
      );
      printList(io, environments, ENVIRONMENTS, { json, empty: "the project has no environments" });
    });
  return new Command("environments")
    .description("Manage environments.")
    .addCommand(list)
    .addCommand(activateCommand(io));
}

function activateCommand(io: Io): Command {
  const command = new Command("activate")
    .description("Let an environment serve a release, or its working set again.")
    .argument("<environment>", "the environment")
    .argument("[release]", "the release to serve")
    .requiredOption("--project <slug>", "the project")
    .addOption(noWaitOption())
    .option("--working-set", "serve the working set instead of a release")
    .addHelpText(
      "after",
      `
Examples:
  ./tessera environments activate production v1.4.0 --project handbook
  ./tessera environments activate production --working-set --project handbook`,
    );
  type ActivateOptions = ChangeOptions & { readonly workingSet?: boolean };
  return command.action(
    async (name: string, release: string | undefined, options: ActivateOptions) => {
      if ((release === undefined) !== (options.workingSet === true)) {
        command.error("error: specify either a release or --working-set");
      }
      const body = { active_release: release ?? null };
      const call = { operation: "updateEnvironment", params: { environmentName: name }, body };
      await change(io, options, call, (slug) => ({
        "environment-not-found": `${slug} has no environment "${abbreviate(name)}"`,
        "release-not-found": `${slug} has no release "${abbreviate(release ?? "")}"`,
        done: `${name} serves ${release ?? "its working set"}`,
      }));
    },
  );
}
