import { Command, Option } from "commander";
import { putMember, removeMember } from "../api/members/change.ts";
import { type Member, readMembers } from "../api/members/queries.ts";
import { OPERATOR, transactionAs } from "../audit/actor.ts";
import { ROLES, type Role } from "../auth/roles.ts";
import { findOrCreateUser } from "../auth/users.ts";
import { holdProject } from "../db/project-lock.ts";
import { CommandError } from "./command-error.ts";
import { confirm, yesOption } from "./confirm.ts";
import { changeDatabase, withDatabase } from "./database.ts";
import { findProject } from "./find-project.ts";
import type { Io } from "./io.ts";
import { email } from "./options.ts";
import { type Column, jsonOption, notice, printList, shortTime } from "./output.ts";
import { requireUser } from "./users.ts";

const COLUMNS: readonly Column<Member>[] = [
  ["user", (member) => member.email ?? member.id],
  ["name", (member) => member.name],
  ["role", (member) => member.role],
  ["since", (member) => shortTime(member.since)],
];

export function membersCommand(io: Io): Command {
  return new Command("members")
    .description("Manage the members of projects.")
    .addCommand(listCommand(io))
    .addCommand(addCommand(io))
    .addCommand(removeCommand(io));
}

function listCommand(io: Io): Command {
  return new Command("list")
    .description("List the members of a project.")
    .requiredOption("--project <slug>", "the project")
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  ./tessera members list --project handbook")
    .action(async ({ project, json }: { project: string; json?: boolean }) => {
      const members = await withDatabase(io, async (sql) =>
        readMembers(sql, (await findProject(sql, project)).id),
      );
      printList(io, members, COLUMNS, { json, empty: "the project has no members" });
    });
}

interface AddOptions {
  readonly project: string;
  readonly role: Role;
  readonly create?: boolean;
}

function addCommand(io: Io): Command {
  return new Command("add")
    .description("Make a user a member of a project, or change their role.")
    .argument("<email>", "the user", email)
    .requiredOption("--project <slug>", "the project")
    .addOption(
      new Option("--role <role>", "owners change everything, editors the contents, members read")
        .choices(ROLES)
        .default("member" satisfies Role),
    )
    .option("--create", "create the user if there is none")
    .addHelpText(
      "after",
      `
Examples:
  ./tessera members add grace@example.com --project handbook --role editor`,
    )
    .action(async (address: string, { project: slug, role, create }: AddOptions) => {
      await changeDatabase(io, async (sql) => {
        const project = await findProject(sql, slug);
        const user = create
          ? await findOrCreateUser(sql, address)
          : await requireUser(sql, address, "--create makes a new user");
        const outcome = await transactionAs(sql, OPERATOR, async (tx) => {
          await holdProject(tx, project.id);
          return await putMember(tx, project.id, user.id, role);
        });
        if (outcome === "last-owner") throw lastOwner(address, project.slug);
        const state = outcome === "unchanged" ? "is already" : "is now";
        notice(io, `${address} ${state} ${role} of ${project.slug}`);
      });
    });
}

function removeCommand(io: Io): Command {
  return new Command("remove")
    .description("End the membership of a user. Their keys lose access to the project.")
    .argument("<email>", "the user", email)
    .requiredOption("--project <slug>", "the project")
    .addOption(yesOption())
    .addHelpText(
      "after",
      `
Examples:
  ./tessera members remove grace@example.com --project handbook`,
    )
    .action(async (address: string, { project: slug, yes }: { project: string; yes?: boolean }) => {
      await changeDatabase(io, async (sql) => {
        const project = await findProject(sql, slug);
        const user = await requireUser(sql, address);
        await confirm(io, `Remove ${user.email} from ${project.slug}?`, yes);
        const outcome = await transactionAs(sql, OPERATOR, async (tx) => {
          await holdProject(tx, project.id);
          return await removeMember(tx, project.id, user.id);
        });
        if (outcome === "none") {
          throw new CommandError(`${user.email} is no member of ${project.slug}`);
        }
        if (outcome === "last-owner") throw lastOwner(user.email, project.slug);
        notice(io, `${user.email} is no longer a member of ${project.slug}`);
      });
    });
}

function lastOwner(address: string, slug: string): CommandError {
  return new CommandError(
    `${address} is the only owner of ${slug}: make another user its owner first`,
  );
}
