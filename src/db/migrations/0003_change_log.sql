-- The change log: what an index has to follow, written in the transaction that makes the change.

CREATE TABLE change_log (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  -- environment and release: the file versions of that scope changed; project: it is gone;
  -- rebuild: its index is to be made anew.
  kind text NOT NULL CHECK (kind IN ('environment', 'release', 'project', 'rebuild')),
  ref uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX change_log_project ON change_log (project_id, seq);
CREATE INDEX change_log_at ON change_log (at);

-- Sequence numbers must become visible in their order, or a follower would step over a slower
-- transaction's. So whoever appends holds this lock until it commits.
CREATE FUNCTION lock_change_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7305, 1);
  RETURN NULL;
END $$;

CREATE FUNCTION append_change(project uuid, change_kind text, reference uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7305, 1);
  INSERT INTO change_log (project_id, kind, ref) VALUES (project, change_kind, reference);
  PERFORM pg_notify('tessera_changes', '');
END $$;

CREATE FUNCTION log_environment_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_log (project_id, kind, ref)
    SELECT DISTINCT project_id, 'environment', environment_id FROM touched;
  IF FOUND THEN PERFORM pg_notify('tessera_changes', ''); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION log_release_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_log (project_id, kind, ref)
    SELECT DISTINCT project_id, 'release', release_id FROM touched;
  IF FOUND THEN PERFORM pg_notify('tessera_changes', ''); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER environment_files_lock BEFORE INSERT OR UPDATE OR DELETE ON environment_files
  FOR EACH STATEMENT EXECUTE FUNCTION lock_change_log();
CREATE TRIGGER environment_files_insert AFTER INSERT ON environment_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();
CREATE TRIGGER environment_files_update AFTER UPDATE ON environment_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();
CREATE TRIGGER environment_files_delete AFTER DELETE ON environment_files
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();

CREATE TRIGGER release_files_lock BEFORE INSERT OR UPDATE OR DELETE ON release_files
  FOR EACH STATEMENT EXECUTE FUNCTION lock_change_log();
CREATE TRIGGER release_files_insert AFTER INSERT ON release_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_release_files();
CREATE TRIGGER release_files_update AFTER UPDATE ON release_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_release_files();
CREATE TRIGGER release_files_delete AFTER DELETE ON release_files
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_release_files();

CREATE FUNCTION log_project_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(OLD.id, 'project', OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER projects_deleted AFTER DELETE ON projects
  FOR EACH ROW EXECUTE FUNCTION log_project_deleted();

-- What servers remember for a moment (credentials, memberships, scopes) is dropped at once when
-- one of these changes, whoever changes it. Payload: a kind and the id concerned.
CREATE FUNCTION notify_access() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'api_keys' THEN
    PERFORM pg_notify('tessera_access', 'key:' || COALESCE(NEW.key_prefix, OLD.key_prefix));
  ELSIF TG_TABLE_NAME = 'memberships' THEN
    PERFORM pg_notify('tessera_access', 'user:' || COALESCE(NEW.user_id, OLD.user_id));
  ELSIF TG_TABLE_NAME = 'projects' THEN
    PERFORM pg_notify('tessera_access', 'project:' || COALESCE(NEW.id, OLD.id));
  ELSE
    PERFORM pg_notify('tessera_access', 'project:' || COALESCE(NEW.project_id, OLD.project_id));
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_access AFTER DELETE OR UPDATE OF key_hash, scopes, expires_at, revoked_at, project_id
  ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER memberships_access AFTER INSERT OR UPDATE OR DELETE
  ON memberships FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER projects_access AFTER DELETE OR UPDATE OF slug
  ON projects FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER environments_access AFTER INSERT OR DELETE OR UPDATE OF name, active_release_id
  ON environments FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER releases_access AFTER INSERT OR DELETE OR UPDATE OF name, frozen_at
  ON releases FOR EACH ROW EXECUTE FUNCTION notify_access();

-- What each running server's indexes have reached, for `index status`.
CREATE TABLE index_state (
  node_id uuid NOT NULL,
  project_id uuid NOT NULL,
  dimension integer NOT NULL,
  seq bigint NOT NULL,
  vectors bigint NOT NULL,
  graphed bigint NOT NULL,
  memory_bytes bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (node_id, project_id, dimension)
);

-- Tells this database from any other: an index snapshot made from another one is not used.
CREATE TABLE index_origin (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  only_row boolean NOT NULL DEFAULT true UNIQUE CHECK (only_row)
);
INSERT INTO index_origin DEFAULT VALUES;
