-- Removing files from environments and projects is audited, too.

ALTER TABLE audit_log DROP CONSTRAINT audit_log_action_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_action_check CHECK (action IN ('import', 'denied',
  'key.created', 'key.revoked', 'key.deleted', 'member.added', 'member.changed', 'member.removed',
  'project.deleted', 'files.removed'));

-- A command that queries the service makes a key for the one request and deletes it. That is one entry.
CREATE OR REPLACE FUNCTION audit_api_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM audit_key('key.created', NEW);
  ELSIF TG_OP = 'DELETE' THEN
    IF OLD.expires_at IS NULL OR OLD.expires_at > OLD.created_at + interval '2 minutes' THEN
      PERFORM audit_key('key.deleted', OLD);
    END IF;
  ELSIF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
    PERFORM audit_key('key.revoked', NEW);
  END IF;
  RETURN NULL;
END $$;
