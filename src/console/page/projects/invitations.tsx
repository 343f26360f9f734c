import { useAction } from "../base/action.ts";
import { call, projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { type Resource, useResource } from "../base/resource.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/page.tsx";
import { Failure } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

type Invited = Schemas["MemberPage"]["invited"][number];
type Invitation = Schemas["InvitationList"]["data"][number];

/** The pending invitations to a project. */
export function useInvited(slug: string): Resource<Invited[]> {
  return useResource(`invited:${slug}`, async (signal) => {
    const query = { limit: 1 };
    const path = projectPath(slug, "members");
    return (await call<Schemas["MemberPage"]>(path, { query, signal })).body.invited;
  });
}

interface InvitedTableProps {
  readonly slug: string;
  readonly invited: Resource<Invited[]>;
  readonly mayChange: boolean;
}

/** Pending invitations, which owners can withdraw. */
export function InvitedTable({ slug, invited, mayChange }: InvitedTableProps) {
  const withdraw = useAction(async (user: string) => {
    await call(projectPath(slug, "members", user), { method: "DELETE" });
    invited.reload();
  });
  if (invited.value === undefined || invited.value.length === 0) return null;
  return (
    <>
      <h3>Invited</h3>
      <Table
        label="Invited"
        rows={invited.value}
        keyOf={({ user }) => user}
        columns={[
          { name: "User", value: ({ user }) => user },
          { name: "Since", value: ({ since }) => dateTime(since) },
          { name: "Role", value: ({ role }) => role },
          {
            name: "",
            value: ({ user }) =>
              mayChange && (
                <Button
                  kind="quiet"
                  label={`Withdraw the invitation of ${user}`}
                  onClick={() => withdraw.run(user)}
                >
                  Withdraw
                </Button>
              ),
          },
        ]}
      />
      {withdraw.error !== undefined && <Failure error={withdraw.error} />}
    </>
  );
}

/** The caller's pending invitations. */
export function Invitations({ onAccepted }: { onAccepted: () => void }) {
  const invitations = useResource("invitations", async (signal) => {
    return (await call<Schemas["InvitationList"]>("invitations", { signal })).body.data;
  });
  const answer = useAction(async ({ project, user, role }: Invitation, accepts: boolean) => {
    const path = projectPath(project.id, "members", user);
    await call(path, accepts ? { method: "PUT", json: { role } } : { method: "DELETE" });
    invitations.reload();
    if (accepts) onAccepted();
  });
  if (invitations.value === undefined || invitations.value.length === 0) return null;
  return (
    <Panel title="Invitations" lead="Projects whose owners want you as a member.">
      <Table
        label="Invitations"
        rows={invitations.value}
        keyOf={({ project, user }) => `${project.id} ${user}`}
        columns={[
          { name: "Project", value: ({ project }) => project.name },
          { name: "Invited by", value: ({ inviter }) => inviter },
          { name: "Role", value: ({ role }) => role },
          {
            name: "",
            value: (invitation) =>
              [true, false].map((accepts) => (
                <Button
                  key={String(accepts)}
                  kind={accepts ? "primary" : "quiet"}
                  label={`${accepts ? "Accept" : "Decline"} ${invitation.project.name}`}
                  onClick={() => answer.run(invitation, accepts)}
                >
                  {accepts ? "Accept" : "Decline"}
                </Button>
              )),
          },
        ]}
      />
      {answer.error !== undefined && <Failure error={answer.error} />}
    </Panel>
  );
}
