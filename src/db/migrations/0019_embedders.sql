-- The embedder of a project and of each chunk, as `name:model:dimension`; null for none, or an unknown one.
ALTER TABLE projects ADD COLUMN embedder text;
ALTER TABLE chunks ADD COLUMN embedder text;

CREATE TRIGGER projects_embedder_access AFTER UPDATE OF embedder
  ON projects FOR EACH ROW EXECUTE FUNCTION notify_access();

-- File versions whose chunks wait for their embeddings.
CREATE TABLE embedding_queue (
  file_version_id uuid PRIMARY KEY REFERENCES file_versions ON DELETE CASCADE,
  project_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  -- When it may be tried. Whoever works on it has moved this into the future.
  due timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX embedding_queue_project ON embedding_queue (project_id, id);

-- Only files of projects with an embedder wait. The lock makes a change of the embedder, which locks the row
-- for update, happen before or after this.
CREATE FUNCTION queue_where_embedded() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own text;
BEGIN
  SELECT embedder INTO own FROM projects WHERE id = NEW.project_id FOR KEY SHARE;
  RETURN CASE WHEN own IS NULL THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER embedding_queue_where BEFORE INSERT ON embedding_queue
  FOR EACH ROW EXECUTE FUNCTION queue_where_embedded();

CREATE FUNCTION notify_embedding_queue() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tessera_embeddings', '');
  RETURN NULL;
END $$;
CREATE TRIGGER embedding_queue_notify AFTER INSERT ON embedding_queue
  FOR EACH STATEMENT EXECUTE FUNCTION notify_embedding_queue();

-- Embeddings of one project are comparable, so its embedder changes only with all of them. A project without
-- chunks has its files cut and embedded from then on.
CREATE FUNCTION check_embedder() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A rebuild of all embeddings.
  IF current_setting('tessera.rebuilds_embeddings', true) = NEW.id::text THEN RETURN NULL; END IF;
  IF EXISTS (SELECT FROM chunks WHERE project_id = NEW.id AND embedder IS DISTINCT FROM NEW.embedder)
  THEN
    RAISE EXCEPTION 'The project has chunks of the embedder %, not of %.',
      coalesce(OLD.embedder, 'none'), coalesce(NEW.embedder, 'none') USING ERRCODE = 'TE001';
  END IF;
  INSERT INTO embedding_queue (file_version_id, project_id)
    SELECT id, project_id FROM file_versions
    WHERE project_id = NEW.id AND chunk_count = 0 AND content ~ '\S'
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER projects_embedder AFTER UPDATE OF embedder ON projects
  FOR EACH ROW WHEN (OLD.embedder IS DISTINCT FROM NEW.embedder) EXECUTE FUNCTION check_embedder();

-- New embeddings of a project, until all of them replace the old ones at once.
CREATE TABLE embedding_rebuilds (
  chunk_id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  project_id uuid NOT NULL,
  embedder text NOT NULL,
  embedding bytea NOT NULL
);
ALTER TABLE embedding_rebuilds ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX embedding_rebuilds_project ON embedding_rebuilds (project_id);

-- `embedded` says that the chunks of the file version in `ref` have got embeddings.
ALTER TABLE change_log DROP CONSTRAINT change_log_kind_check, ADD CONSTRAINT change_log_kind_check
  CHECK (kind IN ('environment', 'release', 'project', 'rebuild', 'embedded')) NOT VALID;

-- The scopes that hold one of these file versions.
CREATE FUNCTION scopes_holding(project uuid, wanted uuid[]) RETURNS TABLE (id uuid, kind text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT DISTINCT f.environment_id, 'environment' FROM environment_files f
    WHERE f.file_version_id = ANY (wanted)
    UNION ALL
    SELECT DISTINCT f.release_id, 'release' FROM release_rows f WHERE f.file_version_id = ANY (wanted);
  IF EXISTS (SELECT FROM release_contents c WHERE c.project_id = project AND c.versions && wanted) THEN
    RETURN QUERY SELECT r.id, 'release' FROM releases r
      WHERE r.project_id = project AND EXISTS (
        SELECT FROM release_among(r.id, wanted));
  END IF;
END $$;
