import { Command } from "commander";
import {
  type ListedEnvironment,
  type ListedRelease,
  listEnvironments,
  listReleases,
} from "../api/projects/contents.ts";
import { importRecord } from "../import/import-record.ts";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import { noWaitOption, untilSearchable } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { type Column, jsonOption, notice, printList, shortTime } from "./output.ts";

const RELEASES: readonly Column<ListedRelease>[] = [
  ["release", (release) => release.name],
  ["files", (release) => String(release.files)],
  ["frozen", (release) => shortTime(release.frozen_at)],
  ["served by", (release) => release.environments.join(",") || "-"],
];

const ENVIRONMENTS: readonly Column<ListedEnvironment>[] = [
  ["environment", (environment) => environment.name],
  ["serves", (environment) => environment.active_release ?? "its working set"],
  ["files", (environment) => String(environment.files)],
  ["protected", (environment) => (environment.protected ? "yes" : "no")],
];

interface ListOptions {
  readonly project: string;
  readonly json?: boolean;
}

interface CreateOptions {
  readonly project: string;
  readonly environment: string;
  readonly wait: boolean;
}

export function releasesCommand(io: Io): Command {
  const list = new Command("list")
    .description("List the releases of a project.")
    .requiredOption("--project <slug>", "the project")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera releases list --project handbook")
    .action(async ({ project, json }: ListOptions) => {
      const releases = await withDatabase(io, async (sql) =>
        listReleases(sql, (await findProject(sql, project)).id),
      );
      printList(io, releases, RELEASES, { json, empty: "the project has no releases" });
    });
  const create = new Command("create")
    .description("Freeze the working set of an environment as a release.")
    .argument("<name>", "name of the release, such as v1.4.0")
    .requiredOption("--project <slug>", "the project")
    .option("--environment <name>", "the environment", "production")
    .addOption(noWaitOption())
    .addHelpText("after", "\nExamples:\n  ./tessera releases create v1.4.0 --project handbook")
    .action(async (name: string, options: CreateOptions) => {
      await changeDatabase(io, async (sql) => {
        const { id: project, slug } = await findProject(sql, options.project);
        const existing = await listReleases(sql, project);
        if (existing.some((release) => release.name === name)) {
          throw new CommandError(`${slug} has a release "${abbreviate(name)}" already`);
        }
        const { environment } = options;
        await importRecord(sql, { record: "release", project, name, environment });
        notice(io, `created ${name} from the working set of ${environment}`);
        await untilSearchable(io, sql, [project], options.wait);
      });
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
      const environments = await withDatabase(io, async (sql) =>
        listEnvironments(sql, (await findProject(sql, project)).id),
      );
      printList(io, environments, ENVIRONMENTS, { json, empty: "the project has no environments" });
    });
  return new Command("environments")
    .description("Manage environments.")
    .addCommand(list)
    .addCommand(activateCommand(io));
}

interface ActivateOptions {
  readonly project: string;
  readonly workingSet?: boolean;
  readonly wait: boolean;
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
  return command.action(
    async (name: string, release: string | undefined, options: ActivateOptions) => {
      if ((release === undefined) !== (options.workingSet === true)) {
        command.error("error: specify either a release or --working-set");
      }
      await changeDatabase(io, async (sql) => {
        const { id: project, slug } = await findProject(sql, options.project);
        const known = await listEnvironments(sql, project);
        if (!known.some((environment) => environment.name === name)) {
          throw new CommandError(`${slug} has no environment "${abbreviate(name)}"`);
        }
        const active_release = release ?? null;
        await importRecord(sql, { record: "environment", project, name, active_release });
        notice(io, `${name} serves ${release ?? "its working set"}`);
        await untilSearchable(io, sql, [project], options.wait);
      });
    },
  );
}
