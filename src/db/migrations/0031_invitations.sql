-- Who was invited to a project, by the id or the address that the inviter named. Whether it is that of a user is not
-- looked up before the invited one accepts.
CREATE TABLE invitations (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- An id, or an address in the form in which addresses are compared.
  invitee text NOT NULL,
  role text NOT NULL,
  invited_by uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, invitee)
);
CREATE INDEX invitations_invitee ON invitations (invitee);
