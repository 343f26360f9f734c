import { Command, Option } from "commander";
import { deleteOwnedProject } from "../api/projects/change.ts";
import { type ListedProject, listAllProjects } from "../api/projects/manage.ts";
import { OPERATOR } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { confirm, yesOption } from "./confirm.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject, type Project } from "./find-project.ts";
import type { Io } from "./io.ts";
import { type Column, jsonOption, notice, plural, printList, shortTime, write } from "./output.ts";
import { quotaCommand } from "./quota.ts";

const COLUMNS: readonly Column<ListedProject>[] = [
  ["slug", (project) => project.slug],
  ["name", (project) => project.name],
  ["owners", (project) => project.owners.join(",")],
  ["members", (project) => String(project.members)],
  ["files", (project) => String(project.files)],
  ["environments", (project) => String(project.environments)],
  ["releases", (project) => String(project.releases)],
  ["created", (project) => shortTime(project.created_at)],
];

/**
 * One line of a balancer's table of slugs. Slugs are letters, digits and hyphens. A slug that is the id of another
 * project names that one, and needs no line.
 */
const MAP_LINES = {
  nginx: ({ slug, id }: ListedProject) => `${slug} ${id};\n`,
  haproxy: ({ slug, id }: ListedProject) => `${slug} ${id}\n`,
} as const;
type MapFormat = keyof typeof MAP_LINES;

function mapCommand(io: Io): Command {
  return new Command("map")
    .description("Print the id of each slug, as the table of a balancer (docs/nodes.md).")
    .addOption(
      new Option("--format <balancer>", "the form of the table")
        .choices(Object.keys(MAP_LINES))
        .default("nginx"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  ./tessera projects map > /etc/nginx/tessera-projects.map && nginx -s reload",
    )
    .action(async ({ format }: { format: MapFormat }) => {
      const projects = await withDatabase(io, (sql) => listAllProjects(sql));
      const ids = new Set(projects.map(({ id }) => id));
      const named = projects.filter(({ slug }) => !ids.has(slug));
      write(io.stdout, named.map(MAP_LINES[format]).join(""));
    });
}

/** A description of the contents that are deleted with a project. */
async function contentsOf(sql: Sql, { id, slug }: Project): Promise<string> {
  const project = (await listAllProjects(sql)).find((each) => each.id === id);
  if (project === undefined) return slug;
  const { files, releases, environments, members } = project;
  const counts = [
    plural(files, "file"),
    plural(releases, "release"),
    plural(environments, "environment"),
    plural(members, "member"),
  ];
  return `${slug} with its ${counts.join(", ")} and everything else`;
}

export function projectsCommand(io: Io): Command {
  const list = new Command("list")
    .description("List all projects.")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera projects list")
    .action(async ({ json }: { json?: boolean }) => {
      const projects = await withDatabase(io, (sql) => listAllProjects(sql));
      printList(io, projects, COLUMNS, { json, empty: "there are no projects" });
    });
  const remove = new Command("delete")
    .description("Delete a project with its files, releases, conversations and webhooks.")
    .argument("<slug>", "the project")
    .addOption(yesOption())
    .addHelpText("after", "\nExamples:\n  ./tessera projects delete handbook")
    .action(async (slug: string, { yes }: { yes?: boolean }) => {
      await changeDatabase(io, async (sql) => {
        const project = await findProject(sql, slug);
        await confirm(io, `Delete the project ${await contentsOf(sql, project)}, for good?`, yes);
        const call = { principal: OPERATOR, requestId: "", reference: project.id };
        await deleteOwnedProject(sql, call, project.slug);
        notice(io, `deleted ${project.slug}`);
      });
    });
  return new Command("projects")
    .description("Manage projects.")
    .addCommand(list)
    .addCommand(mapCommand(io))
    .addCommand(quotaCommand(io))
    .addCommand(remove);
}
