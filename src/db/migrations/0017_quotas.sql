-- What an operator allows a project to store; null for no limit. All versions count, whatever scopes hold them.
ALTER TABLE projects
  ADD COLUMN max_files bigint CHECK (max_files >= 0),
  ADD COLUMN max_bytes bigint CHECK (max_bytes >= 0),
  ADD COLUMN max_chunks bigint CHECK (max_chunks >= 0);

-- A project with a quota is counted when a transaction that has added to it commits, once, under a lock that
-- other commits to the same project wait for. So the quota holds however many write at the same time, and
-- nobody waits while a transaction is still at work.
CREATE TABLE quota_checks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  project_id uuid NOT NULL,
  UNIQUE (xid, project_id)
);

CREATE FUNCTION note_quota_checks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO quota_checks (project_id)
    SELECT id FROM projects
    WHERE id IN (SELECT project_id FROM touched)
      AND (max_files IS NOT NULL OR max_bytes IS NOT NULL OR max_chunks IS NOT NULL)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER files_quota AFTER INSERT ON files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_quota_checks();
CREATE TRIGGER file_versions_quota AFTER INSERT ON file_versions
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION note_quota_checks();

CREATE FUNCTION project_usage(project uuid, OUT files bigint, OUT bytes bigint, OUT chunks bigint)
LANGUAGE sql AS $$
  SELECT (SELECT count(*) FROM files WHERE project_id = project),
    coalesce(sum(octet_length(content)), 0)::bigint, coalesce(sum(chunk_count), 0)::bigint
  FROM file_versions WHERE project_id = project
$$;

CREATE FUNCTION check_quota() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  excess record;
BEGIN
  DELETE FROM quota_checks WHERE id = NEW.id;
  PERFORM pg_advisory_xact_lock(7306, hashtext(NEW.project_id::text));
  SELECT v.* INTO excess FROM projects p, project_usage(p.id) u,
    LATERAL (VALUES ('files', u.files, p.max_files), ('bytes', u.bytes, p.max_bytes),
      ('chunks', u.chunks, p.max_chunks)) AS v (name, used, allowed)
    WHERE p.id = NEW.project_id AND v.used > v.allowed LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'The project may store at most % %, and would store %.',
      excess.allowed, excess.name, excess.used USING ERRCODE = 'TQ001';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER quota_checks_commit AFTER INSERT ON quota_checks
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_quota();
