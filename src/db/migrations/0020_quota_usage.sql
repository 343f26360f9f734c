-- A commit to a project with a quota adds what it stores to the last count, instead of counting all versions
-- again. A count is repeated once a minute, after versions were deleted and when the quota changes, so whatever
-- escapes this is found: what a transaction stores that began before the project had a quota.

CREATE TABLE quota_usage (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL,
  counted_at timestamptz NOT NULL
);

-- What the transaction has added.
ALTER TABLE quota_checks
  ADD COLUMN files bigint NOT NULL DEFAULT 0,
  ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN chunks bigint NOT NULL DEFAULT 0;

CREATE FUNCTION note_quota_check(project uuid, added_files bigint, added_bytes bigint, added_chunks bigint)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO quota_checks AS c (project_id, files, bytes, chunks)
    SELECT id, added_files, added_bytes, added_chunks FROM projects
    WHERE id = project
      AND (max_files IS NOT NULL OR max_bytes IS NOT NULL OR max_chunks IS NOT NULL)
    ON CONFLICT (xid, project_id) DO UPDATE SET files = c.files + excluded.files,
      bytes = c.bytes + excluded.bytes, chunks = c.chunks + excluded.chunks
$$;

CREATE OR REPLACE FUNCTION note_quota_checks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'files' THEN
    PERFORM note_quota_check(project_id, count(*), 0, 0) FROM touched GROUP BY project_id;
  ELSE
    PERFORM note_quota_check(project_id, 0, coalesce(sum(octet_length(content)), 0)::bigint,
      sum(chunk_count)::bigint) FROM touched GROUP BY project_id;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION forget_quota_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM quota_usage WHERE project_id IN (SELECT project_id FROM touched);
  RETURN NULL;
END $$;
CREATE TRIGGER files_quota_usage AFTER DELETE ON files
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION forget_quota_usage();
CREATE TRIGGER file_versions_quota_usage AFTER DELETE ON file_versions
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION forget_quota_usage();

CREATE FUNCTION forget_project_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM quota_usage WHERE project_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER projects_quota_usage AFTER UPDATE ON projects FOR EACH ROW
  WHEN ((OLD.max_files, OLD.max_bytes, OLD.max_chunks)
    IS DISTINCT FROM (NEW.max_files, NEW.max_bytes, NEW.max_chunks))
  EXECUTE FUNCTION forget_project_usage();

CREATE OR REPLACE FUNCTION check_quota() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added quota_checks;
  used quota_usage;
  excess record;
BEGIN
  DELETE FROM quota_checks WHERE id = NEW.id RETURNING * INTO added;
  PERFORM pg_advisory_xact_lock(7306, hashtext(NEW.project_id::text));
  UPDATE quota_usage u SET files = u.files + added.files, bytes = u.bytes + added.bytes,
      chunks = u.chunks + added.chunks
    WHERE project_id = NEW.project_id AND counted_at > clock_timestamp() - interval '1 minute'
    RETURNING * INTO used;
  IF NOT FOUND THEN
    INSERT INTO quota_usage AS u (project_id, files, bytes, chunks, counted_at)
      SELECT p.id, c.files, c.bytes, c.chunks, clock_timestamp()
      FROM projects p, project_usage(p.id) c WHERE p.id = NEW.project_id
      ON CONFLICT (project_id) DO UPDATE SET files = excluded.files, bytes = excluded.bytes,
        chunks = excluded.chunks, counted_at = excluded.counted_at
      RETURNING * INTO used;
  END IF;
  SELECT v.* INTO excess FROM projects p,
    LATERAL (VALUES ('files', used.files, p.max_files), ('bytes', used.bytes, p.max_bytes),
      ('chunks', used.chunks, p.max_chunks)) AS v (name, used, allowed)
    WHERE p.id = NEW.project_id AND v.used > v.allowed LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'The project may store at most % %, and would store %.',
      excess.allowed, excess.name, excess.used USING ERRCODE = 'TQ001';
  END IF;
  RETURN NULL;
END $$;
