import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, listAll, projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { useRefusal } from "../base/rights.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Failure, Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { InvitedTable, useInvited } from "./invitations.tsx";
import type { ProjectProps } from "./project-props.ts";

type Member = Schemas["ProjectMember"];

const ROLES = [
  { value: "owner", label: "owner" },
  { value: "editor", label: "editor" },
  { value: "member", label: "member" },
];

const called = ({ name, email, id }: Member): string => email ?? (name || id);

/** The members of the project and their roles. Only owners change them, which the service checks. */
export function MembersView({ project: { slug } }: ProjectProps) {
  const members = useResource(`members:${slug}`, (signal) => {
    return listAll<Member>(projectPath(slug, "members"), { signal });
  });
  const invited = useInvited(slug);
  const need = { permission: "projects.write", project: slug, atLeast: "owner" } as const;
  const mayChange = useRefusal(need) === null;
  const [removed, setRemoved] = useState<Member | undefined>(undefined);
  const change = useAction(async (user: string, role: string) => {
    await call(projectPath(slug, "members", user), { method: "PUT", json: { role } });
    members.reload();
  });
  const remove = async (member: Member) => {
    await call(projectPath(slug, "members", member.id), { method: "DELETE" });
    members.reload();
  };
  return (
    <Panel title="Members" lead="Members read; editors also write files; owners do everything.">
      <Loaded of={members}>
        {(list) => (
          <Table
            label="Members"
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              { name: "Name", value: ({ name, id }) => name || id },
              { name: "Email", value: ({ email }) => email ?? "" },
              { name: "Since", value: ({ since }) => dateTime(since) },
              {
                name: "Role",
                value: (member) => (
                  <RoleSelect
                    member={member}
                    disabled={change.running || !mayChange}
                    onChange={(role) => change.run(member.id, role)}
                  />
                ),
              },
              {
                name: "",
                value: (member) =>
                  mayChange && (
                    <Button
                      kind="quiet"
                      label={`Remove ${called(member)}`}
                      onClick={() => setRemoved(member)}
                    >
                      Remove
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <InvitedTable slug={slug} invited={invited} mayChange={mayChange} />
      {change.error !== undefined && <Failure error={change.error} />}
      <Allowed {...need}>
        <AddMember slug={slug} onAdded={invited.reload} />
      </Allowed>
      {removed !== undefined && (
        <Confirm
          title={`Remove ${called(removed)}`}
          yes="Remove"
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(undefined)}
        >
          The keys of this user no longer reach the project.
        </Confirm>
      )}
    </Panel>
  );
}

interface RoleSelectProps {
  readonly member: Member;
  readonly disabled: boolean;
  readonly onChange: (role: string) => void;
}

function RoleSelect({ member, disabled, onChange }: RoleSelectProps) {
  const { role } = member;
  const known = ROLES.some(({ value }) => value === role);
  return (
    <Select
      label={`Role of ${called(member)}`}
      labelHidden
      value={role}
      disabled={disabled}
      options={known ? ROLES : [{ value: role, label: role }, ...ROLES]}
      onChange={onChange}
    />
  );
}

function AddMember({ slug, onAdded }: { slug: string; onAdded: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("member");
  const add = useAction(async () => {
    await call(projectPath(slug, "members", email.trim()), { method: "PUT", json: { role } });
    setEmail("");
    onAdded();
  });
  return (
    <Form action={add} submit="Invite">
      <TextField
        label="Email or id of a user"
        hint="They become a member when they accept."
        required
        value={email}
        onInput={setEmail}
      />
      <Select label="Role" value={role} options={ROLES} onChange={setRole} />
    </Form>
  );
}
