import { useAction, useResource } from "../base/resource.ts";
import { client, type Schemas } from "../base/service.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/page.tsx";
import { Failure } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

type Role = Schemas["MemberChange"]["role"];
type Invitation = Schemas["InvitationList"]["data"][number];

/** The caller's pending invitations. */
export function Invitations({ onAccepted }: { onAccepted: () => void }) {
  const { value, reload } = useResource("invitations", (signal) =>
    client.listInvitations({ signal }),
  );
  const answer = useAction(async ({ project, user, role }: Invitation, accepts: boolean) => {
    if (accepts) await client.putMember(project.id, user, { role: role as Role });
    else await client.deleteMember(project.id, user);
    reload();
    if (accepts) onAccepted();
  });
  if (value === undefined || value.data.length === 0) return null;
  return (
    <Panel title="Invitations" lead="Projects whose owners want you as a member.">
      <Table
        label="Invitations"
        rows={value.data}
        keyOf={({ project, user }) => `${project.id} ${user}`}
        columns={[
          { name: "Project", value: ({ project }) => project.name },
          { name: "Invited by", value: ({ inviter }) => inviter },
          { name: "Role", value: ({ role }) => role },
          {
            name: "",
            value: (invitation) =>
              (["Accept", "Decline"] as const).map((text) => (
                <Button
                  key={text}
                  kind={text === "Accept" ? "primary" : "quiet"}
                  label={`${text} ${invitation.project.name}`}
                  onClick={() => answer.run(invitation, text === "Accept")}
                >
                  {text}
                </Button>
              )),
          },
        ]}
      />
      {answer.error !== undefined && <Failure error={answer.error} />}
    </Panel>
  );
}
