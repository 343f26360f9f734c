import type { Static } from "@sinclair/typebox";
import { type Command, Option } from "commander";
import { ROLES, type Role } from "../auth/roles.ts";
import { findOrCreateUser } from "../auth/users.ts";
import type { ProjectMember } from "../platform/members/schema.ts";
import { type Flags, newCommand, newGroup } from "./command.ts";
import { confirm } from "./confirm.ts";
import type { Io } from "./io.ts";
import { changeProject, listCommand, type Words } from "./operations.ts";
import { email } from "./options.ts";
import { notice, shortTime } from "./output.ts";
import { requireUser } from "./users.ts";

export function membersCommand(io: Io): Command {
  const list = listCommand<Static<typeof ProjectMember>>(io, "members list", {
    operation: "listMembers",
    columns: [
      ["user", (member) => member.email ?? member.id],
      ["name", (member) => member.name],
      ["role", (member) => member.role],
      ["since", (member) => shortTime(member.since)],
    ],
    empty: "the project has no members",
  });
  return newGroup("members", "Manage the members of projects.", [
    list,
    addCommand(io),
    removeCommand(io),
  ]);
}

function addCommand(io: Io): Command {
  return newCommand("members add", "project")
    .argument("<email>", "the user", email)
    .addOption(
      new Option("--role <role>", "owners change everything, editors the contents, members read")
        .choices(ROLES)
        .default("member" satisfies Role),
    )
    .option("--create", "create the user if the address is unknown")
    .action(async (address: string, { project, role, create }: Flags & { readonly role: Role }) => {
      await changeProject(io, project, async ({ sql, slug, call }) => {
        if (create) await findOrCreateUser(sql, address);
        else await requireUser(sql, address, "--create makes a new user");
        const change = { params: { user_id: address }, body: { role } };
        await call("putMember", change, lastOwner(address, slug));
        notice(io, `${address} is now ${role} of ${slug}`);
      });
    });
}

function removeCommand(io: Io): Command {
  return newCommand("members remove", "project", "yes")
    .argument("<email>", "the user", email)
    .action(async (given: string, { project, yes }: Flags) => {
      await changeProject(io, project, async ({ sql, slug, call }) => {
        const { email: address } = await requireUser(sql, given);
        await confirm(io, `Remove ${address} from ${slug}?`, yes);
        await call(
          "deleteMember",
          { params: { user_id: address } },
          {
            ...lastOwner(address, slug),
            "user-not-found": `${address} is not a member of ${slug}`,
          },
        );
        notice(io, `${address} is no longer a member of ${slug}`);
      });
    });
}

function lastOwner(address: string, slug: string): Words {
  return {
    "last-owner": `${address} is the only owner of ${slug}: make another user its owner first`,
  };
}
