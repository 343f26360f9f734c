-- Invitations end with what they rest on, whatever changes it: those of a user whose membership begins, changes or
-- ends, because an older one would lead back to it, and those by an owner who is no longer one.
CREATE FUNCTION end_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  project uuid := COALESCE(NEW.project_id, OLD.project_id);
  person uuid := COALESCE(NEW.user_id, OLD.user_id);
BEGIN
  DELETE FROM invitations i WHERE i.project_id = project AND (i.invitee = person::text
    OR i.invitee = (SELECT lower(u.email COLLATE "C") FROM users u WHERE u.id = person));
  IF OLD.role = 'owner' AND NEW.role IS DISTINCT FROM 'owner' THEN
    DELETE FROM invitations i WHERE i.project_id = project AND i.invited_by = person;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_invitations AFTER INSERT OR DELETE ON memberships
  FOR EACH ROW EXECUTE FUNCTION end_invitations();
CREATE TRIGGER memberships_invitations_update AFTER UPDATE ON memberships
  FOR EACH ROW WHEN (NEW.role <> OLD.role) EXECUTE FUNCTION end_invitations();

-- Those that were made before.
DELETE FROM invitations i WHERE NOT EXISTS (SELECT FROM memberships m
  WHERE m.project_id = i.project_id AND m.user_id = i.invited_by AND m.role = 'owner');
DELETE FROM invitations i USING memberships m JOIN users u ON u.id = m.user_id
  WHERE m.project_id = i.project_id
    AND i.invitee IN (u.id::text, lower(u.email COLLATE "C"));
