-- Who did what: imports over HTTP, and changes of keys and memberships and refusals. Rows refer to
-- others without foreign keys, because they outlive them.

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL CHECK (action IN ('import', 'denied', 'key.created', 'key.revoked',
    'key.deleted', 'member.added', 'member.changed', 'member.removed', 'project.deleted')),
  -- `http` or `command`; null for a statement that names no actor.
  via text,
  user_id uuid,
  key_id uuid,
  request_id text,
  project_id uuid,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_project ON audit_log (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX audit_log_user ON audit_log (user_id, id) WHERE user_id IS NOT NULL;

-- The actor of this transaction or session: a JSON object in the setting `tessera.actor`.
CREATE FUNCTION audit_actor() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('tessera.actor', true), ''), '{}')::jsonb
$$;

-- Triggers write the log, so that no way to change a key or a membership can avoid it.
CREATE FUNCTION audit_memberships() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE actor jsonb := audit_actor();
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
      SELECT 'member.added', actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
        actor->>'request_id', n.project_id, jsonb_build_object('member', n.user_id, 'role', n.role)
      FROM new_rows n;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
      SELECT 'member.changed', actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
        actor->>'request_id', n.project_id,
        jsonb_build_object('member', n.user_id, 'role', n.role, 'earlier_role', o.role)
      FROM new_rows n JOIN old_rows o USING (project_id, user_id) WHERE n.role <> o.role;
  ELSE
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
      SELECT 'member.removed', actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
        actor->>'request_id', o.project_id, jsonb_build_object('member', o.user_id, 'role', o.role)
      FROM old_rows o;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_audit_insert AFTER INSERT ON memberships
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_memberships();
CREATE TRIGGER memberships_audit_update AFTER UPDATE ON memberships
  REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION audit_memberships();
CREATE TRIGGER memberships_audit_delete AFTER DELETE ON memberships
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION audit_memberships();

CREATE FUNCTION audit_key(event text, k api_keys) RETURNS void LANGUAGE sql AS $$
  INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
  SELECT event, actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
    actor->>'request_id', k.project_id,
    jsonb_build_object('key', k.id, 'key_prefix', k.key_prefix, 'name', k.name, 'user', k.user_id)
  FROM audit_actor() actor
$$;

CREATE FUNCTION audit_api_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM audit_key('key.created', NEW);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM audit_key('key.deleted', OLD);
  ELSIF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
    PERFORM audit_key('key.revoked', NEW);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_audit AFTER INSERT OR DELETE OR UPDATE OF revoked_at ON api_keys
  FOR EACH ROW EXECUTE FUNCTION audit_api_keys();

CREATE FUNCTION audit_project_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
    SELECT 'project.deleted', actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid,
      actor->>'request_id', OLD.id, jsonb_build_object('slug', OLD.slug)
    FROM audit_actor() actor;
  RETURN NULL;
END $$;
CREATE TRIGGER projects_audit AFTER DELETE ON projects
  FOR EACH ROW EXECUTE FUNCTION audit_project_deleted();
