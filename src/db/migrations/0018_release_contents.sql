-- What a release holds is stored as its difference from the release before it, so that a release costs what it
-- changed. The table that has a row per file stays for releases that are being filled, and for those that were
-- frozen before. Its name becomes that of a view over both, which earlier versions read and write as well.

CREATE TABLE release_contents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Null for contents that are stored in full.
  base_id bigint,
  -- The file versions that these contents or their base hold, but not both, in order. So contents are the
  -- versions that occur an odd number of times on the way to those in full.
  versions uuid[] NOT NULL,
  files integer NOT NULL,
  -- How many rows the way has, and how many versions they name.
  steps integer NOT NULL,
  named integer NOT NULL,
  UNIQUE (project_id, id),
  FOREIGN KEY (project_id, base_id) REFERENCES release_contents (project_id, id)
);
-- Ids do not compress: skip the attempt.
ALTER TABLE release_contents ALTER COLUMN versions SET STORAGE EXTERNAL;
CREATE INDEX release_contents_base ON release_contents (project_id, base_id) WHERE base_id IS NOT NULL;

-- Null for a release that is being filled, and for one whose files are rows.
ALTER TABLE releases ADD COLUMN contents_id bigint;
ALTER TABLE releases ADD FOREIGN KEY (project_id, contents_id)
  REFERENCES release_contents (project_id, id) NOT VALID;
CREATE INDEX releases_contents ON releases (project_id, contents_id) WHERE contents_id IS NOT NULL;

-- The file versions of contents. The planner takes them for few, so that it finds the rest of their rows by index
-- and does not read the tables of all projects.
CREATE FUNCTION contents_versions(contents bigint) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 10 AS $$
BEGIN
  RETURN QUERY WITH RECURSIVE way AS (
    SELECT c.base_id, c.versions FROM release_contents c WHERE c.id = contents
    UNION ALL
    SELECT c.base_id, c.versions FROM way JOIN release_contents c ON c.id = way.base_id
  )
  SELECT version FROM way, unnest(way.versions) AS version GROUP BY version HAVING count(*) % 2 = 1;
END $$;

-- Stores contents and returns their id. Those that equal the project's last are not stored again. A version
-- that is deleted meanwhile is left out: deleting takes the same lock (forget_versions).
CREATE FUNCTION store_contents(project uuid, wanted uuid[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  base release_contents;
  difference uuid[];
  added integer;
  gone integer;
  stored bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(7307, hashtext(project::text));
  SELECT * INTO base FROM release_contents WHERE project_id = project ORDER BY id DESC LIMIT 1;
  IF base.id IS NOT NULL THEN
    WITH RECURSIVE way AS (
      SELECT base.base_id, base.versions
      UNION ALL
      SELECT c.base_id, c.versions FROM way JOIN release_contents c ON c.id = way.base_id
    ), named AS (
      SELECT unnest(wanted) AS version, true AS wants
      UNION ALL SELECT unnest(way.versions), false FROM way
    ), differing AS (
      SELECT version, bool_or(wants) AS wants FROM named GROUP BY version HAVING count(*) % 2 = 1
    )
    SELECT coalesce(array_agg(d.version ORDER BY d.version), '{}'), count(*) FILTER (WHERE d.wants),
        count(*) FILTER (WHERE NOT d.wants)
      INTO difference, added, gone
      FROM differing d
      WHERE NOT d.wants
        OR EXISTS (SELECT FROM file_versions v WHERE v.id = d.version AND v.project_id = project);
    IF cardinality(difference) = 0 THEN
      RETURN base.id;
    END IF;
  END IF;
  -- A way has at most 64 steps and names twice as many versions as there are files.
  IF base.steps < 64 AND base.named + cardinality(difference) <= 2 * (base.files + added - gone) THEN
    INSERT INTO release_contents (project_id, base_id, versions, files, steps, named)
      VALUES (project, base.id, difference, base.files + added - gone, base.steps + 1,
        base.named + cardinality(difference)) RETURNING id INTO stored;
  ELSE
    INSERT INTO release_contents (project_id, versions, files, steps, named)
      SELECT project, coalesce(array_agg(v.id ORDER BY v.id), '{}'), count(*), 1, count(*)
      FROM file_versions v WHERE v.project_id = project AND v.id = ANY (wanted) RETURNING id INTO stored;
  END IF;
  RETURN stored;
END $$;

ALTER TABLE release_files RENAME TO release_rows;

-- The files of releases. Ask it for one release, by its id: what names a file is found only by reading
-- all releases of the project.
CREATE VIEW release_files AS
  SELECT r.project_id, r.id AS release_id, m.file_id, m.file_version_id
  FROM releases r CROSS JOIN LATERAL (
    SELECT w.file_id, w.file_version_id FROM release_rows w WHERE w.release_id = r.id
    UNION ALL
    SELECT (SELECT v.file_id FROM file_versions v WHERE v.id = version), version
    FROM contents_versions(r.contents_id) AS version
  ) m;

-- Which of a few versions a release holds: cheaper than all of its files, because it searches the arrays. The
-- concatenation reads each of them once, and not once per version.
CREATE FUNCTION release_among(release uuid, candidates uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY WITH RECURSIVE way AS (
    SELECT c.base_id, c.versions || '{}' AS versions
    FROM releases r JOIN release_contents c ON c.id = r.contents_id WHERE r.id = release
    UNION ALL
    SELECT c.base_id, c.versions || '{}' FROM way JOIN release_contents c ON c.id = way.base_id
  )
  SELECT version FROM way, unnest(candidates) AS version
  WHERE way.versions[width_bucket(version, way.versions)] = version
  GROUP BY version HAVING count(*) % 2 = 1;
  RETURN QUERY SELECT file_version_id FROM release_rows
    WHERE release_id = release AND file_version_id = ANY (candidates);
END $$;

CREATE FUNCTION insert_release_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO release_rows (project_id, release_id, file_id, file_version_id)
    VALUES (NEW.project_id, NEW.release_id, NEW.file_id, NEW.file_version_id) ON CONFLICT DO NOTHING;
  IF FOUND THEN RETURN NEW; END IF;
  IF NOT EXISTS (SELECT FROM release_rows
      WHERE release_id = NEW.release_id AND file_version_id = NEW.file_version_id) THEN
    RAISE EXCEPTION 'the release has another version of the file' USING ERRCODE = 'unique_violation',
      CONSTRAINT = 'release_files_pkey';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER release_files_insert INSTEAD OF INSERT ON release_files
  FOR EACH ROW EXECUTE FUNCTION insert_release_file();

-- A release changes from rows to contents when it is frozen, or at the next update if it was frozen before.
CREATE FUNCTION store_frozen_release() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  held uuid[];
BEGIN
  SELECT array_agg(file_version_id) INTO held FROM release_rows WHERE release_id = NEW.id;
  IF held IS NOT NULL THEN
    NEW.contents_id := store_contents(NEW.project_id, held);
    DELETE FROM release_rows WHERE release_id = NEW.id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER releases_frozen BEFORE UPDATE ON releases FOR EACH ROW
  WHEN (NEW.frozen_at IS NOT NULL AND NEW.contents_id IS NULL)
  EXECUTE FUNCTION store_frozen_release();

-- Fills a release with file versions, at most one per file, and freezes it. Rows that it has already remain.
CREATE FUNCTION fill_release(release uuid, versions uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM release_rows WHERE release_id = release) THEN
    INSERT INTO release_rows (project_id, release_id, file_id, file_version_id)
      SELECT v.project_id, release, v.file_id, v.id FROM file_versions v WHERE v.id = ANY (versions)
      ON CONFLICT DO NOTHING;
    UPDATE releases SET frozen_at = now() WHERE id = release AND frozen_at IS NULL;
  ELSE
    UPDATE releases SET contents_id = store_contents(project_id, versions), frozen_at = now()
      WHERE id = release AND frozen_at IS NULL;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the release is frozen' USING ERRCODE = 'integrity_constraint_violation',
      CONSTRAINT = 'release_frozen';
  END IF;
END $$;

CREATE FUNCTION log_release_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(NEW.project_id, 'release', NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER releases_contents_log AFTER UPDATE ON releases FOR EACH ROW
  WHEN (OLD.contents_id IS NULL AND NEW.contents_id IS NOT NULL) EXECUTE FUNCTION log_release_contents();

-- Contents never change, whoever asks; only versions that are deleted disappear from them.
CREATE FUNCTION refuse_change_of_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the release is frozen' USING ERRCODE = 'integrity_constraint_violation',
    CONSTRAINT = 'release_frozen';
END $$;
CREATE TRIGGER releases_contents_frozen BEFORE UPDATE ON releases FOR EACH ROW
  WHEN (OLD.contents_id IS DISTINCT FROM NEW.contents_id AND OLD.frozen_at IS NOT NULL
    AND OLD.contents_id IS NOT NULL) EXECUTE FUNCTION refuse_change_of_contents();
CREATE TRIGGER release_contents_frozen BEFORE UPDATE ON release_contents FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_change_of_contents();

-- Arrays have no foreign keys: versions that are deleted are taken out of all contents that name them.
CREATE FUNCTION forget_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  deleted uuid[];
  changed record;
BEGIN
  -- A project that is deleted takes its contents with it.
  IF NOT EXISTS (SELECT FROM touched t JOIN projects p ON p.id = t.project_id) THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(7307, hashtext(project_id::text))
    FROM (SELECT DISTINCT project_id FROM touched ORDER BY 1) AS projects;
  deleted := ARRAY(SELECT id FROM touched);
  FOR changed IN
    WITH RECURSIVE naming AS (
      SELECT c.id, version FROM release_contents c, unnest(c.versions) AS version
      WHERE c.project_id IN (SELECT project_id FROM touched) AND version = ANY (deleted)
    ), way AS (
      SELECT id AS contents, id, base_id FROM release_contents
      WHERE project_id IN (SELECT project_id FROM touched)
      UNION ALL
      SELECT way.contents, c.id, c.base_id FROM way JOIN release_contents c ON c.id = way.base_id
    ), holding AS (
      SELECT contents, version FROM way JOIN naming USING (id)
      GROUP BY contents, version HAVING count(*) % 2 = 1
    )
    SELECT contents, count(*) AS files FROM holding GROUP BY contents
  LOOP
    UPDATE release_contents SET files = files - changed.files WHERE id = changed.contents;
    PERFORM append_change(project_id, 'release', id) FROM releases WHERE contents_id = changed.contents;
  END LOOP;
  UPDATE release_contents SET versions = ARRAY(
      SELECT version FROM unnest(versions) AS version WHERE version <> ALL (deleted))
    WHERE project_id IN (SELECT project_id FROM touched) AND versions && deleted;
  RETURN NULL;
END $$;
CREATE TRIGGER file_versions_forgotten AFTER DELETE ON file_versions
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION forget_versions();
