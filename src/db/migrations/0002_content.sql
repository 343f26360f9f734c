-- Files, their immutable versions and chunks, and the scopes that select among them.

CREATE TABLE files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Byte order is the order that listings and cursors promise.
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, path),
  UNIQUE (project_id, id)
);

CREATE TABLE file_versions (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  file_id uuid NOT NULL,
  version_key text NOT NULL,
  content text,
  chunk_count integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (file_id, version_key),
  UNIQUE (project_id, file_id, id),
  FOREIGN KEY (project_id, file_id) REFERENCES files (project_id, id) ON DELETE CASCADE
);

CREATE TABLE chunks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  file_id uuid NOT NULL,
  file_version_id uuid NOT NULL,
  -- Repeated from the file, where it never changes, so that one index serves the listing order.
  file_path text COLLATE "C" NOT NULL,
  index integer NOT NULL CHECK (index >= 0),
  content text NOT NULL,
  start_offset integer NOT NULL DEFAULT 0,
  end_offset integer NOT NULL DEFAULT 0,
  token_count integer NOT NULL DEFAULT 0,
  metadata jsonb NOT NULL DEFAULT '{}',
  dimension integer CHECK (dimension IN (768, 1024, 1536, 3072, 4096)),
  -- Little-endian float32.
  embedding bytea,
  CHECK ((dimension IS NULL) = (embedding IS NULL)),
  CHECK (embedding IS NULL OR octet_length(embedding) = dimension * 4),
  UNIQUE (file_version_id, index),
  FOREIGN KEY (project_id, file_id, file_version_id)
    REFERENCES file_versions (project_id, file_id, id) ON DELETE CASCADE
);
-- Embeddings do not compress and are read whole: skip the attempt.
ALTER TABLE chunks ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX chunks_listing ON chunks (project_id, file_path, file_version_id, index);

CREATE TABLE releases (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL CHECK (name <> ''),
  export_status text NOT NULL DEFAULT 'pending',
  build_status text NOT NULL DEFAULT 'pending',
  deploy_status text NOT NULL DEFAULT 'pending',
  created_at timestamptz NOT NULL DEFAULT now(),
  -- From this moment on the release is immutable.
  frozen_at timestamptz,
  UNIQUE (project_id, name),
  UNIQUE (project_id, id)
);

CREATE TABLE environments (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL CHECK (name <> ''),
  protected boolean NOT NULL DEFAULT false,
  domains text[] NOT NULL DEFAULT '{}',
  environment_variables jsonb NOT NULL DEFAULT '[]',
  active_release_id uuid,
  server_hostname text,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, name),
  UNIQUE (project_id, id),
  FOREIGN KEY (project_id, active_release_id) REFERENCES releases (project_id, id)
);
CREATE INDEX environments_active_release ON environments (active_release_id)
  WHERE active_release_id IS NOT NULL;

-- The working set of an environment: at most one version a file.
CREATE TABLE environment_files (
  project_id uuid NOT NULL,
  environment_id uuid NOT NULL,
  file_id uuid NOT NULL,
  file_version_id uuid NOT NULL,
  PRIMARY KEY (environment_id, file_id),
  FOREIGN KEY (project_id, environment_id) REFERENCES environments (project_id, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, file_id, file_version_id)
    REFERENCES file_versions (project_id, file_id, id) ON DELETE CASCADE
);
CREATE INDEX environment_files_version ON environment_files (file_version_id);

-- The contents of a release: at most one version a file.
CREATE TABLE release_files (
  project_id uuid NOT NULL,
  release_id uuid NOT NULL,
  file_id uuid NOT NULL,
  file_version_id uuid NOT NULL,
  PRIMARY KEY (release_id, file_id),
  FOREIGN KEY (project_id, release_id) REFERENCES releases (project_id, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, file_id, file_version_id)
    REFERENCES file_versions (project_id, file_id, id) ON DELETE CASCADE
);
CREATE INDEX release_files_version ON release_files (file_version_id);

-- A frozen release never changes again, whoever asks.
CREATE FUNCTION refuse_frozen_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT 1 FROM touched t JOIN releases r ON r.id = t.release_id WHERE r.frozen_at IS NOT NULL
  ) THEN
    RAISE EXCEPTION 'the release is frozen' USING ERRCODE = 'integrity_constraint_violation',
      CONSTRAINT = 'release_frozen';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER release_files_frozen_insert AFTER INSERT ON release_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION refuse_frozen_release();
CREATE TRIGGER release_files_frozen_update AFTER UPDATE ON release_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION refuse_frozen_release();
