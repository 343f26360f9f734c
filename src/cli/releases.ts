import type { Static } from "@sinclair/typebox";
import type { Command } from "commander";
import type { EnvironmentItem, ReleaseItem } from "../content/projects/schema.ts";
import { abbreviate } from "../domain/abbreviate.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { untilSearchable } from "./index-wait.ts";
import type { Io } from "./io.ts";
import { changeProject, listCommand, type Words } from "./operations.ts";
import { notice, shortTime } from "./output.ts";

interface Change {
  readonly operation: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly body: object;
  /** The message about the change. */
  readonly done: string;
}

/** Changes a scope of a project by an operation, and waits until searches see it. */
async function changeScope(
  io: Io,
  { project, wait }: Flags,
  { operation, done, ...change }: Change,
  wordsOf: (slug: string) => Words,
): Promise<void> {
  await changeProject(io, project, async ({ sql, id, slug, call }) => {
    await call(operation, change, wordsOf(slug));
    notice(io, done);
    await untilSearchable(io, sql, [id], wait);
  });
}

export function releasesCommand(io: Io): Command {
  const list = listCommand<Static<typeof ReleaseItem>>(io, "releases list", {
    operation: "listReleases",
    columns: [
      ["release", (release) => release.name],
      ["files", (release) => String(release.files)],
      ["frozen", (release) => shortTime(release.frozen_at)],
      ["served by", (release) => release.environments.join(",") || "-"],
    ],
    empty: "the project has no releases",
    reversed: true,
  });
  const create = newCommand("releases create", "project", "environment", "wait")
    .argument("<name>", "name of the release, such as v1.4.0")
    .action(async (name: string, options: Flags) => {
      const { environment } = options;
      const done = `created ${name} from the working set of ${environment}`;
      const change = { operation: "createRelease", body: { name, environment }, done };
      await changeScope(io, options, change, (slug) => ({
        "release-name-taken": `${slug} has a release "${abbreviate(name)}" already`,
        "environment-not-found": `${slug} has no environment "${abbreviate(environment)}"`,
      }));
    });
  return newGroup("releases", "Manage releases.", [list, create]);
}

export function environmentsCommand(io: Io): Command {
  const list = listCommand<Static<typeof EnvironmentItem>>(io, "environments list", {
    operation: "listEnvironments",
    columns: [
      ["environment", (environment) => environment.name],
      ["serves", (environment) => environment.active_release ?? "its working set"],
      ["files", (environment) => String(environment.files)],
      ["protected", (environment) => (environment.protected ? "yes" : "no")],
    ],
    empty: "the project has no environments",
  });
  return newGroup("environments", "Manage environments.", [list, activateCommand(io)]);
}

function activateCommand(io: Io): Command {
  const command = newCommand("environments activate", "project", "wait")
    .argument("<environment>", "the environment")
    .argument("[release]", "the release to serve")
    .option("--working-set", "serve the working set instead of a release");
  type Options = Flags & { readonly workingSet?: boolean };
  return command.action(async (name: string, release: string | undefined, options: Options) => {
    if ((release === undefined) !== (options.workingSet === true)) {
      command.error("error: specify either a release or --working-set");
    }
    const change = {
      operation: "updateEnvironment",
      params: { environmentName: name },
      body: { active_release: release ?? null },
      done: `${name} serves ${release ?? "its working set"}`,
    };
    await changeScope(io, options, change, (slug) => ({
      "environment-not-found": `${slug} has no environment "${abbreviate(name)}"`,
      "release-not-found": `${slug} has no release "${abbreviate(release ?? "")}"`,
    }));
  });
}
