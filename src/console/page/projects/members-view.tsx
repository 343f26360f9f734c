import { dateTime } from "../base/format.ts";
import { useAction, useResource } from "../base/resource.ts";
import { type Need, useRefusal } from "../base/rights.ts";
import { client, listed, type Schemas } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Failure, Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { ProjectProps } from "./project-props.ts";

/** A member, or an invited user by the reference that an owner typed. */
type Person = Schemas["ProjectMember"] & { readonly isInvited?: true };

const ROLES = ["member", "editor", "owner"].map((value) => ({ value, label: value }));
const roleOf = (role: string | undefined) => ({ role: role as Schemas["MemberChange"]["role"] });

const called = ({ name, email, id }: Person): string => email ?? (name || id);

async function readPeople(slug: string, signal: AbortSignal): Promise<Person[]> {
  const [members, { invited }] = await Promise.all([
    listed((page) => client.allMembers(slug, page), signal),
    client.listMembers(slug, { limit: 1, signal }),
  ]);
  const guests = invited.map(
    ({ user, ...rest }): Person => ({ id: user, name: user, isInvited: true, ...rest }),
  );
  return [...members, ...guests];
}

/** The members of the project and their roles. Only owners change them, which the service checks. */
export function MembersView({ project: { slug } }: ProjectProps) {
  const people = useResource(slug, (signal) => readPeople(slug, signal));
  const need: Need = { permission: "projects.write", project: slug, atLeast: "owner" };
  const mayChange = useRefusal(need) === null;
  const invite = async ({ user = "", role }: Readonly<Record<string, string>>) => {
    await client.putMember(slug, user.trim(), roleOf(role));
    people.reload();
  };
  return (
    <Panel title="Members" lead="Members read; editors also write files; owners do everything.">
      <Loaded of={people}>
        {(list) => (
          <People slug={slug} people={list} mayChange={mayChange} onChanged={people.reload} />
        )}
      </Loaded>
      <Allowed {...need}>
        <Form submit="Invite" onSubmit={invite}>
          <TextField
            label="Email or id of a user"
            hint="They become a member when they accept."
            name="user"
            required
          />
          <Select label="Role" name="role" value="member" options={ROLES} />
        </Form>
      </Allowed>
    </Panel>
  );
}

interface PeopleProps {
  readonly slug: string;
  readonly people: readonly Person[];
  readonly mayChange: boolean;
  readonly onChanged: () => void;
}

function People({ slug, people, mayChange, onChanged }: PeopleProps) {
  const change = useAction(async (user: string, role: string) => {
    await client.putMember(slug, user, roleOf(role));
    onChanged();
  });
  const remove = useAction((user: string) => client.deleteMember(slug, user).then(onChanged));
  const failure = change.error ?? remove.error;
  return (
    <>
      <Table
        label="Members"
        rows={people}
        keyOf={({ id }) => id}
        columns={[
          { name: "Name", value: ({ name, id }) => name || id },
          {
            name: "Email",
            value: ({ email, isInvited }) => (isInvited ? <Badge>invited</Badge> : (email ?? "")),
          },
          { name: "Since", value: ({ since }) => dateTime(since) },
          {
            name: "Role",
            value: (person) =>
              person.isInvited ? (
                person.role
              ) : (
                <Select
                  label={`Role of ${called(person)}`}
                  labelHidden
                  value={person.role}
                  disabled={change.running || !mayChange}
                  options={ROLES}
                  onChange={(role) => change.run(person.id, role)}
                />
              ),
          },
          {
            name: "",
            value: (person) => {
              if (!mayChange) return null;
              const name = called(person);
              return person.isInvited ? (
                <Button
                  kind="quiet"
                  label={`Withdraw the invitation of ${name}`}
                  onClick={() => remove.run(person.id)}
                >
                  Withdraw
                </Button>
              ) : (
                <ConfirmButton
                  kind="quiet"
                  text="Remove"
                  label={`Remove ${name}`}
                  yes="Remove"
                  onConfirm={() => client.deleteMember(slug, person.id).then(onChanged)}
                >
                  The keys of this user no longer reach the project.
                </ConfirmButton>
              );
            },
          },
        ]}
      />
      {failure !== undefined && <Failure error={failure} />}
    </>
  );
}
