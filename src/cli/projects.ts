import { type Command, InvalidArgumentError, Option } from "commander";
import { type ListedProject, listAllProjects } from "../content/projects/manage.ts";
import {
  type Limit,
  QUOTAS,
  type QuotaDefault,
  type QuotaState,
  readQuotaDefaults,
  setQuotaDefaults,
  setQuotas,
} from "../content/projects/quota.ts";
import type { Sql } from "../db/client.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { confirm } from "./confirm.ts";
import { changeDatabase, type Project, withDatabase } from "./database.ts";
import type { Io } from "./io.ts";
import { changeProject, withProject } from "./operations.ts";
import { type Column, notice, plural, printList, shortTime, write } from "./output.ts";

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
  return newCommand("projects map")
    .addOption(
      new Option("--format <balancer>", "the form of the table")
        .choices(Object.keys(MAP_LINES))
        .default("nginx"),
    )
    .action(async ({ format }: { format: MapFormat }) => {
      const projects = await withDatabase(io, (sql) => listAllProjects(sql));
      const ids = new Set(projects.map(({ id }) => id));
      const named = projects.filter(({ slug }) => !ids.has(slug));
      write(io.stdout, named.map(MAP_LINES[format]).join(""));
    });
}

const ALLOWED: Column<{ readonly allowed: number | null }> = [
  "allowed",
  ({ allowed }) => (allowed === null ? "any number" : String(allowed)),
];
const QUOTA_COLUMNS: readonly Column<QuotaState>[] = [
  ["quota", ({ quota }) => quota],
  ["stored", ({ used }) => String(used)],
  ALLOWED,
];
const DEFAULT_COLUMNS: readonly Column<QuotaDefault>[] = [["quota", ({ quota }) => quota], ALLOWED];

function limit(value: string): Limit {
  if (value === "none" || value === "default") return value;
  if (!/^\d{1,15}$/.test(value)) {
    throw new InvalidArgumentError("It must be a whole number, none or default.");
  }
  return Number(value);
}

type QuotaOptions = Partial<Record<(typeof QUOTAS)[number], Limit>> & {
  readonly json?: boolean;
};

function quotaCommand(io: Io): Command {
  const command = newCommand("projects quota", "json").argument("<slug>", "the project");
  for (const quota of QUOTAS) {
    command.option(
      `--${quota} <n>`,
      `the most ${quota} that it may store; none for no limit, default for that of the service`,
      limit,
    );
  }
  return command.action(async (slug: string, { json, ...given }: QuotaOptions) => {
    const isChange = Object.keys(given).length > 0;
    const open = isChange ? changeProject : withProject;
    const quotas = await open(io, slug, async ({ sql, id, call }) => {
      if (isChange) await setQuotas(sql, id, given);
      return (await call("getQuotas")) as { readonly data: QuotaState[] };
    });
    printList(io, quotas.data, QUOTA_COLUMNS, { json, empty: "" });
  });
}

interface DefaultOptions {
  readonly bytes?: Limit;
  readonly ownerBytes?: Limit;
  readonly json?: boolean;
}

/** A default limit as it is stored: `none` and `default` are no limit. */
const storedDefault = (value: Limit) => (typeof value === "number" ? value : null);

function defaultQuotaCommand(io: Io): Command {
  return newCommand("projects default-quota", "json")
    .option("--bytes <n>", "maximum bytes of a project; none for no limit", limit)
    .option(
      "--owner-bytes <n>",
      "maximum bytes of all projects of an owner together; none for no limit",
      limit,
    )
    .action(async ({ json, bytes, ownerBytes }: DefaultOptions) => {
      const limits = {
        ...(bytes !== undefined && { bytes: storedDefault(bytes) }),
        ...(ownerBytes !== undefined && { owner_bytes: storedDefault(ownerBytes) }),
      };
      const isChange = Object.keys(limits).length > 0;
      const open = isChange ? changeDatabase : withDatabase;
      const defaults = await open(io, async (sql) => {
        if (isChange) await setQuotaDefaults(sql, limits);
        return await readQuotaDefaults(sql);
      });
      printList(io, defaults, DEFAULT_COLUMNS, { json, empty: "" });
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
  const list = newCommand("projects list", "json").action(async ({ json }: Flags) => {
    const projects = await withDatabase(io, (sql) => listAllProjects(sql));
    printList(io, projects, COLUMNS, { json, empty: "there are no projects" });
  });
  const remove = newCommand("projects delete", "yes")
    .argument("<slug>", "the project")
    .action(async (reference: string, { yes }: Flags) => {
      await changeProject(io, reference, async ({ sql, id, slug, call }) => {
        const question = `Delete the project ${await contentsOf(sql, { id, slug })}, for good?`;
        await confirm(io, question, yes);
        await call("deleteProject", { query: { confirm: slug } });
        notice(io, `deleted ${slug}`);
      });
    });
  const quotas = [quotaCommand(io), defaultQuotaCommand(io)];
  return newGroup("projects", "Manage projects.", [list, mapCommand(io), ...quotas, remove]);
}
