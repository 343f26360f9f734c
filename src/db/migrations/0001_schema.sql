-- The schema of the database: tables, and the guarantees that hold for every writer.

-- The bytes of a value as text; 0 for null.
CREATE FUNCTION bytes_of(value anyelement) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(octet_length(value::text), 0)
$$;

-- Users, their credentials, and the projects that they are members of.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text,
  name text NOT NULL DEFAULT '',
  role text NOT NULL DEFAULT 'member',
  avatar_src text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When the issuer stated the address. Null for users that an operator or an import has named.
  email_stated_at timestamptz,
  email_verified boolean NOT NULL DEFAULT false
);
-- Users who come with a token may have no address. Addresses are compared by a rule of the service, in which A to Z
-- count as a to z: by the locale of a Turkish database, ISTANBUL@example.com and istanbul@example.com differ.
CREATE UNIQUE INDEX users_address ON users (lower(email COLLATE "C")) WHERE email IS NOT NULL;

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$'),
  name text NOT NULL CHECK (name <> ''),
  description text,
  is_claimed boolean NOT NULL DEFAULT true,
  features text[] NOT NULL DEFAULT '{}',
  -- json and not jsonb, here and wherever a caller's document is kept: it comes back as it was
  -- sent, with its order, its digits and its escapes, some of which jsonb refuses.
  config json NOT NULL DEFAULT '{}',
  provider text,
  layout text,
  prompt_count integer NOT NULL DEFAULT 0,
  -- The embedder, as `name:model:dimension`; null for none.
  embedder text,
  -- The project's own quota, which an operator sets; null for the default.
  max_files bigint CHECK (max_files >= 0),
  max_bytes bigint CHECK (max_bytes >= 0),
  max_chunks bigint CHECK (max_chunks >= 0),
  published_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(description) + bytes_of(features) + bytes_of(config)) STORED
);

CREATE TABLE memberships (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL DEFAULT 'member',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, project_id)
);
CREATE INDEX memberships_project ON memberships (project_id);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
  key_prefix text NOT NULL UNIQUE,
  -- SHA-256 of the whole key: keys carry over 128 random bits, so a slow hash would add nothing.
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  scopes text[] NOT NULL DEFAULT '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(name)) STORED
);
CREATE INDEX api_keys_user ON api_keys (user_id);
CREATE INDEX api_keys_project ON api_keys (project_id) WHERE project_id IS NOT NULL;

-- The invitee is looked up when the invitation is accepted, and not before.
CREATE TABLE invitations (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- The id of a user, or an address in the form in which addresses are compared.
  invitee text NOT NULL,
  role text NOT NULL,
  invited_by uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, invitee)
);
CREATE INDEX invitations_invitee ON invitations (invitee);

-- An invitation ends with the membership that it rests on, and when the invited user becomes a member, changes role or
-- leaves: an older invitation would lead back.
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

-- A deletion waits for the transactions that write to the project. Transactions that begin later are told that the
-- project is gone. Row locks cannot do that: writers would wait for the row that is being deleted, and a deletion might
-- never get it from many writers. The key of a lock has 64 bits of a hash, so two projects do not meet.

-- True if the project exists and is not being deleted. It stays so until this transaction ends.
CREATE FUNCTION lock_project(project uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock_shared(hashtextextended(project::text, 7308)) THEN
    RETURN false;
  END IF;
  -- A statement of its own, because a deletion may have been committed since the caller's began.
  RETURN EXISTS (SELECT FROM projects WHERE id = project);
END $$;

-- Waits until no transaction holds the project. False if it is gone, or if another transaction is deleting it.
CREATE FUNCTION begin_project_deletion(project uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  -- Two deletions that wait for the same lock would both have held the project.
  IF NOT pg_try_advisory_xact_lock(hashtextextended(project::text, 7309)) THEN
    RETURN false;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(project::text, 7308));
  RETURN EXISTS (SELECT FROM projects WHERE id = project);
END $$;

-- Files, their immutable versions and chunks.

CREATE TABLE files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Byte order is the order that listings and cursors promise.
  path text COLLATE "C" NOT NULL CHECK (path <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + octet_length(path)) STORED,
  UNIQUE (project_id, path),
  UNIQUE (project_id, id)
);

CREATE TABLE file_versions (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  file_id uuid NOT NULL,
  version_key text NOT NULL,
  content text,
  -- The title that lists show: that of the frontmatter or a heading, else the name of the file.
  title text NOT NULL,
  chunk_count integer NOT NULL DEFAULT 0,
  -- A hash of the embeddings with which an import into one project has stored the version; null where the service or
  -- the operator has computed them. Nothing shows that given embeddings are those of the text, so a version without
  -- the hash is another version.
  given_embeddings text,
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + coalesce(octet_length(content), 0) + bytes_of(title)
    + bytes_of(version_key)) STORED,
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
  metadata json NOT NULL DEFAULT '{}',
  dimension integer CHECK (dimension IN (768, 1024, 1536, 3072, 4096)),
  -- The embedder, as `name:model:dimension`; null for an unknown one.
  embedder text,
  -- Little-endian float32.
  embedding bytea,
  stored_bytes integer GENERATED ALWAYS AS (200 + octet_length(file_path) + octet_length(content)
    + bytes_of(metadata) + coalesce(octet_length(embedding), 0)) STORED,
  CHECK ((dimension IS NULL) = (embedding IS NULL)),
  CHECK (embedding IS NULL OR octet_length(embedding) = dimension * 4),
  UNIQUE (file_version_id, index),
  FOREIGN KEY (project_id, file_id, file_version_id)
    REFERENCES file_versions (project_id, file_id, id) ON DELETE CASCADE
);
-- Embeddings do not compress and are read whole: skip the attempt.
ALTER TABLE chunks ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX chunks_listing ON chunks (project_id, file_path, file_version_id, index);

-- Releases and environments, the scopes that select among file versions.

-- A release is stored as its difference from the release before it, so that its size is that of its changes.
CREATE TABLE release_contents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- Null for contents that are stored in full.
  base_id bigint,
  -- The file versions that either these contents or their base hold, but not both, in order. So contents are the
  -- versions that occur an odd number of times from here to the contents in full.
  versions uuid[] NOT NULL,
  files integer NOT NULL,
  -- The number of rows from here to the contents in full, and of versions in them.
  steps integer NOT NULL,
  named integer NOT NULL,
  stored_bytes integer GENERATED ALWAYS AS (200 + 16 * cardinality(versions)) STORED,
  UNIQUE (project_id, id),
  FOREIGN KEY (project_id, base_id) REFERENCES release_contents (project_id, id)
);
-- Ids do not compress: skip the attempt.
ALTER TABLE release_contents ALTER COLUMN versions SET STORAGE EXTERNAL;
CREATE INDEX release_contents_base ON release_contents (project_id, base_id) WHERE base_id IS NOT NULL;

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
  -- Null for a release that has no files yet.
  contents_id bigint,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(name)) STORED,
  UNIQUE (project_id, name),
  UNIQUE (project_id, id),
  FOREIGN KEY (project_id, contents_id) REFERENCES release_contents (project_id, id)
);
CREATE INDEX releases_contents ON releases (project_id, contents_id) WHERE contents_id IS NOT NULL;

CREATE TABLE environments (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL CHECK (name <> ''),
  protected boolean NOT NULL DEFAULT false,
  domains text[] NOT NULL DEFAULT '{}',
  environment_variables json NOT NULL DEFAULT '[]',
  active_release_id uuid,
  server_hostname text,
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(name) + bytes_of(domains)
    + bytes_of(environment_variables) + bytes_of(server_hostname)) STORED,
  UNIQUE (project_id, name),
  UNIQUE (project_id, id),
  FOREIGN KEY (project_id, active_release_id) REFERENCES releases (project_id, id)
);
CREATE INDEX environments_active_release ON environments (active_release_id)
  WHERE active_release_id IS NOT NULL;

-- The working set of an environment: at most one version of each file.
CREATE TABLE environment_files (
  project_id uuid NOT NULL,
  environment_id uuid NOT NULL,
  file_id uuid NOT NULL,
  file_version_id uuid NOT NULL,
  stored_bytes integer GENERATED ALWAYS AS (200) STORED,
  PRIMARY KEY (environment_id, file_id),
  FOREIGN KEY (project_id, environment_id) REFERENCES environments (project_id, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, file_id, file_version_id)
    REFERENCES file_versions (project_id, file_id, id) ON DELETE CASCADE
);
CREATE INDEX environment_files_version ON environment_files (file_version_id);

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

-- The files of releases. Ask it for one release, by its id: a file is found only by reading all releases of a project.
CREATE VIEW release_files AS
  SELECT r.project_id, r.id AS release_id, (SELECT v.file_id FROM file_versions v WHERE v.id = version) AS file_id,
    version AS file_version_id
  FROM releases r CROSS JOIN LATERAL contents_versions(r.contents_id) AS version;

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
END $$;

-- The scopes that hold one of these file versions.
CREATE FUNCTION scopes_holding(project uuid, wanted uuid[]) RETURNS TABLE (id uuid, kind text)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY
    SELECT DISTINCT f.environment_id, 'environment' FROM environment_files f
    WHERE f.file_version_id = ANY (wanted);
  IF EXISTS (SELECT FROM release_contents c WHERE c.project_id = project AND c.versions && wanted) THEN
    RETURN QUERY SELECT r.id, 'release' FROM releases r
      WHERE r.project_id = project AND EXISTS (
        SELECT FROM release_among(r.id, wanted));
  END IF;
END $$;

-- Stores contents and returns their id and the bytes of their row. Those that equal the project's last are not stored
-- again. A version that is deleted meanwhile is left out: deleting takes the same lock (forget_versions).
CREATE FUNCTION store_contents(project uuid, wanted uuid[], OUT stored bigint, OUT added integer)
LANGUAGE plpgsql AS $$
DECLARE
  base release_contents;
  difference uuid[];
  more integer;
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
    SELECT coalesce(array_agg(d.version ORDER BY d.version), '{}'),
        count(*) FILTER (WHERE d.wants) - count(*) FILTER (WHERE NOT d.wants)
      INTO difference, more
      FROM differing d
      WHERE NOT d.wants
        OR EXISTS (SELECT FROM file_versions v WHERE v.id = d.version AND v.project_id = project);
    IF cardinality(difference) = 0 THEN
      stored := base.id;
      added := 0;
      RETURN;
    END IF;
  END IF;
  -- A way has at most 64 steps and names twice as many versions as there are files.
  IF base.steps < 64 AND base.named + cardinality(difference) <= 2 * (base.files + more) THEN
    INSERT INTO release_contents (project_id, base_id, versions, files, steps, named)
      VALUES (project, base.id, difference, base.files + more, base.steps + 1, base.named + cardinality(difference))
      RETURNING id, stored_bytes INTO stored, added;
  ELSE
    INSERT INTO release_contents (project_id, versions, files, steps, named)
      SELECT project, coalesce(array_agg(v.id ORDER BY v.id), '{}'), count(*), 1, count(*)
      FROM file_versions v WHERE v.project_id = project AND v.id = ANY (wanted)
      RETURNING id, stored_bytes INTO stored, added;
  END IF;
END $$;

-- Fills a release with file versions, at most one per file, and freezes it. After that no role can change it. Returns
-- the bytes that this adds.
CREATE FUNCTION fill_release(release uuid, wanted uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  contents record;
BEGIN
  SELECT c.* INTO contents FROM releases r, store_contents(r.project_id, wanted) c
    WHERE r.id = release AND r.frozen_at IS NULL;
  UPDATE releases SET contents_id = contents.stored, frozen_at = now() WHERE id = release AND frozen_at IS NULL;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the release is frozen' USING ERRCODE = 'integrity_constraint_violation',
      CONSTRAINT = 'release_frozen';
  END IF;
  RETURN contents.added;
END $$;

-- No role can change contents; only deleted versions disappear from them.
CREATE FUNCTION refuse_change_of_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the release is frozen' USING ERRCODE = 'integrity_constraint_violation',
    CONSTRAINT = 'release_frozen';
END $$;
CREATE TRIGGER releases_contents_frozen BEFORE UPDATE ON releases FOR EACH ROW
  WHEN (OLD.contents_id IS DISTINCT FROM NEW.contents_id AND OLD.frozen_at IS NOT NULL)
  EXECUTE FUNCTION refuse_change_of_contents();
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

-- The change log: an index follows it, and each transaction adds its own changes.

CREATE TABLE change_log (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  -- environment and release: the file versions of that scope changed; project: it is gone;
  -- rebuild: its index is to be made anew; embedded: the file version in `ref` was cut into chunks, or these have got
  -- embeddings.
  kind text NOT NULL CHECK (kind IN ('environment', 'release', 'project', 'rebuild', 'embedded')),
  ref uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- True for the changes of a transaction that copies a project. The indexes of a copy are loaded by the first request
  -- that asks for it: loading each copy at once would let one small request cause minutes of work.
  is_copy boolean NOT NULL DEFAULT false
);
CREATE INDEX change_log_project ON change_log (project_id, seq);
CREATE INDEX change_log_at ON change_log (at);

-- The changes of transactions that are running. A commit moves them to change_log, so only the transaction itself
-- ever sees its rows.
CREATE TABLE change_pending (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  -- True for one row of the transaction, whose trigger numbers all of them.
  is_first boolean NOT NULL,
  project_id uuid NOT NULL,
  kind text NOT NULL,
  ref uuid NOT NULL
);
CREATE INDEX change_pending_xid ON change_pending (xid, is_first);

CREATE FUNCTION append_change(project uuid, change_kind text, reference uuid)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO change_pending (is_first, project_id, kind, ref)
    SELECT NOT EXISTS (SELECT FROM change_pending WHERE xid = pg_current_xact_id() AND is_first),
      project, change_kind, reference
$$;

-- Numbers must become visible in their order, or a follower would step over a slower transaction's. So a commit that
-- takes numbers holds a lock until it is done, and takes it last: a transaction that waits for rows or for a client
-- never makes other projects wait. Quotas come first (`charge`): all transactions take their locks in this order.
-- Commits wait for each other here, so each has a bounded number of changes.
CREATE FUNCTION number_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes change_pending[];
BEGIN
  -- A scope that changed several times is logged once, at its last place.
  WITH taken AS (DELETE FROM change_pending WHERE xid = pg_current_xact_id() RETURNING *),
    last AS (SELECT DISTINCT ON (project_id, kind, ref) * FROM taken
      WHERE kind = 'project' OR EXISTS (SELECT FROM projects WHERE projects.id = taken.project_id)
      ORDER BY project_id, kind, ref, id DESC)
    SELECT array_agg(last::change_pending ORDER BY id) INTO changes FROM last;
  IF cardinality(changes) > 5000 THEN
    RAISE EXCEPTION 'more than 5000 environments and releases change at once'
      USING ERRCODE = 'program_limit_exceeded';
  END IF;
  PERFORM pg_advisory_xact_lock(7305, 1);
  INSERT INTO change_log (project_id, kind, ref, is_copy)
    SELECT project_id, kind, ref, coalesce(current_setting('tessera.is_copy', true) = 'on', false)
    FROM unnest(changes) ORDER BY id;
  PERFORM pg_notify('tessera_changes', '');
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER change_pending_commit AFTER INSERT ON change_pending
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_first)
  EXECUTE FUNCTION number_changes();

CREATE FUNCTION log_environment_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(project_id, 'environment', environment_id)
    FROM (SELECT DISTINCT project_id, environment_id FROM touched) AS scopes;
  RETURN NULL;
END $$;
CREATE TRIGGER environment_files_insert AFTER INSERT ON environment_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();
CREATE TRIGGER environment_files_update AFTER UPDATE ON environment_files
  REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();
CREATE TRIGGER environment_files_delete AFTER DELETE ON environment_files
  REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION log_environment_files();

CREATE FUNCTION log_release_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(NEW.project_id, 'release', NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER releases_contents_log AFTER UPDATE ON releases FOR EACH ROW
  WHEN (OLD.contents_id IS DISTINCT FROM NEW.contents_id) EXECUTE FUNCTION log_release_contents();

CREATE FUNCTION log_scope_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(OLD.project_id, TG_ARGV[0], OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER environments_deleted AFTER DELETE ON environments
  FOR EACH ROW EXECUTE FUNCTION log_scope_deleted('environment');
CREATE TRIGGER releases_deleted AFTER DELETE ON releases
  FOR EACH ROW EXECUTE FUNCTION log_scope_deleted('release');

CREATE FUNCTION log_project_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(OLD.id, 'project', OLD.id);
  RETURN NULL;
END $$;
CREATE TRIGGER projects_deleted AFTER DELETE ON projects
  FOR EACH ROW EXECUTE FUNCTION log_project_deleted();

-- Servers cache credentials, memberships and scopes for a moment. They drop them when one of these changes, also by a
-- statement by hand. Payload: a kind and the id concerned.
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
CREATE TRIGGER projects_embedder_access AFTER UPDATE OF embedder
  ON projects FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER environments_access AFTER INSERT OR DELETE OR UPDATE OF name, active_release_id
  ON environments FOR EACH ROW EXECUTE FUNCTION notify_access();
CREATE TRIGGER releases_access AFTER INSERT OR DELETE OR UPDATE OF name, frozen_at
  ON releases FOR EACH ROW EXECUTE FUNCTION notify_access();

-- Embeddings that the service computes.

-- File versions whose chunks wait for their embeddings.
CREATE TABLE embedding_queue (
  file_version_id uuid PRIMARY KEY REFERENCES file_versions ON DELETE CASCADE,
  project_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  -- When it may be tried. A service that works on it has moved this into the future.
  due timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX embedding_queue_project ON embedding_queue (project_id, id);

-- The embedder of a project, which stays as it is until this transaction ends: a change of it locks the row for update.
CREATE FUNCTION keep_embedder(project uuid) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM projects WHERE id = project FOR KEY SHARE;
  -- A statement of its own, because one that waits for a change returns the row as it was before.
  RETURN (SELECT embedder FROM projects WHERE id = project);
END $$;

-- Only files of projects with an embedder wait.
CREATE FUNCTION queue_where_embedded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN keep_embedder(NEW.project_id) IS NULL THEN NULL ELSE NEW END;
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

-- True if a text has something to cut into chunks: a character that is not blank. The blanks are those that the
-- service trims from chunks, in databases of any locale.
CREATE FUNCTION has_text(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT content ~ ('[^\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]' COLLATE "C")
$$;

-- Embeddings of one project are comparable, so its embedder changes only with all of them. A project without
-- chunks has its files cut and embedded from then on.
CREATE FUNCTION check_embedder() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A rebuild of all embeddings.
  IF current_setting('tessera.rebuilds_embeddings', true) = NEW.id::text THEN RETURN NULL; END IF;
  -- Chunks that others are storing are seen, and others see this change: they keep the row of the project.
  PERFORM FROM projects WHERE id = NEW.id FOR UPDATE;
  IF EXISTS (SELECT FROM chunks WHERE project_id = NEW.id AND embedder IS DISTINCT FROM NEW.embedder)
  THEN
    RAISE EXCEPTION 'The project has chunks of the embedder %, not of %.',
      coalesce(OLD.embedder, 'none'), coalesce(NEW.embedder, 'none') USING ERRCODE = 'TE001';
  END IF;
  INSERT INTO embedding_queue (file_version_id, project_id)
    SELECT id, project_id FROM file_versions
    WHERE project_id = NEW.id AND chunk_count = 0 AND has_text(content)
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

-- Projects whose chunks are to be embedded again, by which embedder, and the author of the request.
CREATE TABLE rebuild_requests (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  embedder text NOT NULL,
  actor jsonb NOT NULL,
  -- When a process may work on it. A process that works on it has moved this into the future.
  due timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER rebuild_requests_notify AFTER INSERT OR UPDATE OF embedder ON rebuild_requests
  FOR EACH STATEMENT EXECUTE FUNCTION notify_embedding_queue();

-- Chunks at which their embedder fails although it embeds others. Each is tried again when it is due, without
-- holding up the other chunks of its file.
CREATE TABLE embedding_failures (
  chunk_id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- The fault, without any text of the embedder's answer.
  reason text NOT NULL,
  attempts integer NOT NULL,
  due timestamptz NOT NULL
);
CREATE INDEX embedding_failures_project ON embedding_failures (project_id);

-- Branch checks, conversations, input requests and webhooks.

CREATE TABLE branches (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL CHECK (name <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(name)) STORED,
  UNIQUE (project_id, name)
);

CREATE TABLE branch_approvals (
  id uuid PRIMARY KEY,
  branch_id uuid NOT NULL REFERENCES branches ON DELETE CASCADE,
  approved_by uuid NOT NULL,
  approved_at timestamptz NOT NULL DEFAULT now(),
  comment text,
  dismissed_at timestamptz,
  dismissed_by uuid,
  dismissed_reason text,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(comment) + bytes_of(dismissed_reason)) STORED
);
CREATE INDEX branch_approvals_branch ON branch_approvals (branch_id, approved_at, id);

CREATE TABLE status_checks (
  id uuid PRIMARY KEY,
  branch_id uuid NOT NULL REFERENCES branches ON DELETE CASCADE,
  check_name text NOT NULL CHECK (check_name <> ''),
  status text NOT NULL CHECK (status IN ('pending', 'success', 'failure')),
  description text,
  external_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(check_name) + bytes_of(description)
    + bytes_of(external_url)) STORED,
  UNIQUE (branch_id, check_name)
);

CREATE TABLE conversations (
  id uuid PRIMARY KEY,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  type text NOT NULL DEFAULT 'chat',
  status text NOT NULL DEFAULT 'active',
  title text,
  summary text,
  current_node text,
  -- The next message takes message_count + 1 as its seq, under this row's lock.
  message_count integer NOT NULL DEFAULT 0,
  latest_event_id bigint NOT NULL DEFAULT 0 CHECK (latest_event_id >= 0),
  metadata json,
  agent_id text,
  runtime_target_kind text,
  runtime_target_environment_id text,
  runtime_target_branch_id text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_message_at timestamptz,
  archived_at timestamptz,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(title) + bytes_of(summary) + bytes_of(metadata)
    + bytes_of(current_node) + bytes_of(agent_id) + bytes_of(runtime_target_kind)
    + bytes_of(runtime_target_environment_id) + bytes_of(runtime_target_branch_id)) STORED
);
CREATE INDEX conversations_project ON conversations (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  parent_id uuid,
  seq integer NOT NULL CHECK (seq >= 0),
  role text NOT NULL,
  parts json NOT NULL DEFAULT '[]' CHECK (json_typeof(parts) = 'array'),
  status text NOT NULL DEFAULT 'completed',
  created_by text,
  model text,
  token_usage json,
  finish_reason text,
  cost_credits text,
  idempotency_key text,
  metadata json,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz,
  edited_at timestamptz,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(parts) + bytes_of(token_usage)
    + bytes_of(metadata) + bytes_of(created_by) + bytes_of(model) + bytes_of(finish_reason)
    + bytes_of(cost_credits) + bytes_of(idempotency_key)) STORED,
  UNIQUE (conversation_id, seq),
  UNIQUE (conversation_id, id),
  FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  message_id uuid,
  status text NOT NULL DEFAULT 'queued',
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200) STORED
);
CREATE INDEX runs_conversation ON runs (conversation_id);

CREATE TABLE input_requests (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  run_id text,
  tool_call_id text,
  kind text NOT NULL DEFAULT 'form',
  status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'submitted', 'cancelled', 'expired')),
  requested_responder_type text NOT NULL DEFAULT 'human',
  title text,
  description text,
  fields json NOT NULL DEFAULT '[]' CHECK (json_typeof(fields) = 'array'),
  recommendations json,
  metadata json,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  submitted_at timestamptz,
  cancelled_at timestamptz,
  expired_at timestamptz,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(title) + bytes_of(description)
    + bytes_of(fields) + bytes_of(recommendations) + bytes_of(metadata) + bytes_of(run_id)
    + bytes_of(tool_call_id)) STORED,
  UNIQUE (conversation_id, id)
);

CREATE TABLE input_responses (
  id uuid PRIMARY KEY,
  -- One answer a request, whatever races.
  input_request_id uuid NOT NULL UNIQUE,
  conversation_id uuid NOT NULL,
  run_id text,
  actor_type text NOT NULL DEFAULT 'human',
  actor_id text NOT NULL,
  values json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(values) + bytes_of(run_id) + bytes_of(actor_id)) STORED,
  FOREIGN KEY (conversation_id, input_request_id)
    REFERENCES input_requests (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE webhook_definitions (
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 128),
  -- The id as the project and its senders know it. Projects may have webhooks with equal names, and the secret of a
  -- delivery decides, so that nobody can take a name from another project or find out that it is taken.
  name text NOT NULL,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- SHA-256 of the secret.
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  enabled boolean NOT NULL DEFAULT true,
  conversation_id uuid REFERENCES conversations ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(name)) STORED
);
CREATE UNIQUE INDEX webhook_definitions_name ON webhook_definitions (name, project_id);
CREATE INDEX webhook_definitions_project ON webhook_definitions (project_id);
CREATE INDEX webhook_definitions_conversation ON webhook_definitions (conversation_id)
  WHERE conversation_id IS NOT NULL;
CREATE TRIGGER webhook_definitions_access AFTER INSERT OR UPDATE OR DELETE
  ON webhook_definitions FOR EACH ROW EXECUTE FUNCTION notify_access();

CREATE TABLE webhook_events (
  id uuid PRIMARY KEY,
  webhook_definition_id text NOT NULL REFERENCES webhook_definitions ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- Null where the sender gave none: then every delivery is new.
  idempotency_key text CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
  -- SHA-256 of the payload's bytes. JSON with another fingerprint may still be the same document.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  is_json boolean NOT NULL,
  conversation_id uuid NOT NULL,
  message_id uuid NOT NULL,
  run_id uuid NOT NULL,
  latest_event_id bigint NOT NULL,
  status text NOT NULL DEFAULT 'accepted',
  invoked_by text NOT NULL DEFAULT 'webhook',
  manual_invoked_by_user_id uuid,
  error_code text,
  error_message text,
  payload json NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  stored_bytes integer GENERATED ALWAYS AS (200 + bytes_of(idempotency_key) + bytes_of(payload)) STORED,
  -- The decision about duplicates: two deliveries of one key can never both be kept.
  UNIQUE (webhook_definition_id, idempotency_key)
);

-- The events of a project are listed, newest first.
CREATE INDEX webhook_events_project ON webhook_events (project_id, received_at, id);

-- One delivery in one transaction: the event that is already kept for this key or this id, else a new one with its
-- conversation, message and run. No row means that the definition is unknown or disabled, or that its project is being
-- deleted. Of two concurrent deliveries the second waits for the first and then fails for a unique key; asked again, it
-- finds the event of the first. `expected_ids` holds the ids that the new event, its conversation, message and run will
-- have.
CREATE FUNCTION deliver_webhook(
  definition_id text, key text, body_fingerprint bytea, body_is_json boolean, body json,
  expected_ids uuid[]
) RETURNS SETOF webhook_events LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
  event webhook_events;
  definition webhook_definitions;
  place conversations;
  place_id uuid := expected_ids[2];
  parent uuid;
  last_seq integer := 0;
  earlier integer := 0;
  added integer;
  author text;
BEGIN
  SELECT * INTO event FROM webhook_events e
    WHERE e.webhook_definition_id = definition_id AND e.idempotency_key = key;
  IF NOT FOUND THEN SELECT * INTO event FROM webhook_events e WHERE e.id = expected_ids[1]; END IF;
  IF FOUND THEN RETURN NEXT event; RETURN; END IF;

  SELECT * INTO definition FROM webhook_definitions d WHERE d.id = definition_id AND d.enabled;
  IF NOT FOUND OR NOT lock_project(definition.project_id) THEN RETURN; END IF;
  author := 'webhook:' || definition.name;

  SELECT * INTO place FROM conversations c
    WHERE c.id = definition.conversation_id AND c.project_id = definition.project_id FOR UPDATE;
  IF FOUND THEN
    place_id := place.id;
    earlier := place.stored_bytes;
    -- Imported messages may carry numbers beyond the count.
    SELECT greatest(place.message_count, max(m.seq)) INTO last_seq
      FROM messages m WHERE m.conversation_id = place_id;
    SELECT m.id INTO parent FROM messages m WHERE m.conversation_id = place_id
      AND m.id = CASE WHEN place.current_node ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        THEN place.current_node::uuid END;
    UPDATE conversations c SET message_count = c.message_count + 1,
      latest_event_id = c.latest_event_id + 1, current_node = expected_ids[3]::text,
      last_message_at = now(), updated_at = now()
      WHERE c.id = place_id RETURNING * INTO place;
  ELSE
    INSERT INTO conversations (id, project_id, type, message_count, latest_event_id, current_node,
        created_by, last_message_at)
      VALUES (place_id, definition.project_id, 'webhook', 1, 1, expected_ids[3]::text, author, now())
      RETURNING * INTO place;
  END IF;

  INSERT INTO messages (id, conversation_id, parent_id, seq, role, parts, created_by, idempotency_key)
    VALUES (expected_ids[3], place_id, parent, last_seq + 1, 'user',
      json_build_array(json_build_object('type', 'webhook', 'payload', body)), author, key);
  INSERT INTO runs (id, conversation_id, message_id)
    VALUES (expected_ids[4], place_id, expected_ids[3]);
  INSERT INTO webhook_events (id, webhook_definition_id, project_id, idempotency_key, fingerprint,
      is_json, conversation_id, message_id, run_id, latest_event_id, payload)
    VALUES (expected_ids[1], definition_id, definition.project_id, key, body_fingerprint,
      body_is_json, place_id, expected_ids[3], expected_ids[4], place.latest_event_id, body)
    RETURNING * INTO event;
  SELECT sum(s.stored_bytes) - earlier INTO added FROM (
    SELECT e.stored_bytes FROM webhook_events e WHERE e.id = event.id
    UNION ALL SELECT m.stored_bytes FROM messages m WHERE m.id = event.message_id
    UNION ALL SELECT r.stored_bytes FROM runs r WHERE r.id = event.run_id
    UNION ALL SELECT c.stored_bytes FROM conversations c WHERE c.id = place_id) AS s;
  PERFORM charge(definition.project_id, 0, added, 0, false);
  RETURN NEXT event;
END $$;

-- Secrets that the service makes for itself and that all its processes share.

CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  secret bytea NOT NULL CHECK (octet_length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A random UUID carries 122 bits of the server's CSPRNG, so three of them fill the hash.
INSERT INTO service_secrets (name, secret) VALUES (
  'cursor',
  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);

-- Accounts at the payment provider. An account is a user; it has no foreign key,
-- because users who come with a token are stored only when something else needs their row.

CREATE TABLE billing_customers (
  account_id uuid PRIMARY KEY,
  customer_id text NOT NULL CHECK (customer_id <> ''),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- One row per account and kind of upgrade: first the attempt of a request to open a session, then the session. A row is
-- deleted when its session is over or the provider has refused it.
CREATE TABLE billing_sessions (
  account_id uuid NOT NULL,
  -- SHA-256 of everything that the provider is asked for.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  -- Part of the provider's idempotency key: a request that continues the attempt gets the same session.
  attempt uuid NOT NULL,
  -- Until then other requests wait for the attempt.
  claimed_until timestamptz,
  session_id text CHECK (session_id <> ''),
  url text,
  -- In the currency's minor unit, as the provider counts it.
  amount_total bigint,
  currency text,
  expires_at timestamptz,
  PRIMARY KEY (account_id, fingerprint),
  CHECK ((session_id IS NULL) = (url IS NULL) AND (session_id IS NULL) = (expires_at IS NULL)),
  CHECK ((amount_total IS NULL) = (currency IS NULL))
);

-- Quotas. A project stores files, chunks and bytes, which are the sum of `stored_bytes` over its rows in all tables with
-- this column: 200 for any row, and the texts, documents and embeddings that a client chooses. A transaction that writes
-- such rows charges the project for them, last before its commit (`src/db/quotas.ts`).
--
-- A charge is a row of quota_deltas. Where something is limited, the charge also adds the deltas to quota_usage, under
-- the lock of the project's row there, and compares; so a limit holds however many write at the same time. Where
-- nothing is, a later charge adds the deltas, and writers wait for nobody.

CREATE TABLE quota_usage (
  project_id uuid PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL
);

-- Committed usage that quota_usage does not include yet.
CREATE TABLE quota_deltas (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL
);
CREATE INDEX quota_deltas_project ON quota_deltas (project_id);

-- Limits of projects and owners without their own; null for no limit. An operator sets them.
CREATE TABLE quota_defaults (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  files bigint,
  bytes bigint,
  chunks bigint,
  owner_files bigint,
  owner_bytes bigint,
  owner_chunks bigint
);

-- The expected usage of copies that are being made. A copy sees the database as of its beginning, so the other
-- transactions of its owner are compared with its reservation.
CREATE TABLE quota_reservations (
  project_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX quota_reservations_owner ON quota_reservations (owner_id);

CREATE FUNCTION project_usage(project uuid, OUT files bigint, OUT bytes bigint, OUT chunks bigint)
LANGUAGE sql AS $$
  SELECT coalesce(sum(files), 0)::bigint, coalesce(sum(bytes), 0)::bigint, coalesce(sum(chunks), 0)::bigint
  FROM (SELECT files, bytes, chunks FROM quota_usage WHERE project_id = project
    UNION ALL SELECT files, bytes, chunks FROM quota_deltas WHERE project_id = project) AS stored
$$;

-- The limits of a project: its own, or else the defaults.
CREATE FUNCTION project_limits(project uuid, OUT files bigint, OUT bytes bigint, OUT chunks bigint)
LANGUAGE sql AS $$
  SELECT coalesce(p.max_files, d.files), coalesce(p.max_bytes, d.bytes), coalesce(p.max_chunks, d.chunks)
  FROM projects p LEFT JOIN quota_defaults d ON true WHERE p.id = project
$$;

-- Compares the usage of an owner's projects with the limits of an owner. Transactions that add to one of them wait
-- here.
CREATE FUNCTION check_owner(owner uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  excess record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(owner::text, 7310));
  -- A statement of its own, because others may have been committed while this one waited.
  SELECT v.* INTO excess FROM quota_defaults d, (
      SELECT sum(s.files) AS files, sum(s.bytes) AS bytes, sum(s.chunks) AS chunks FROM (
        SELECT u.files, u.bytes, u.chunks FROM memberships m, project_usage(m.project_id) u
          WHERE m.user_id = owner AND m.role = 'owner'
        UNION ALL SELECT r.files, r.bytes, r.chunks FROM quota_reservations r
          WHERE r.owner_id = owner AND r.expires_at > clock_timestamp()) AS s) AS used,
    LATERAL (VALUES ('files', used.files, d.owner_files), ('bytes', used.bytes, d.owner_bytes),
      ('chunks', used.chunks, d.owner_chunks)) AS v (name, used, allowed)
    WHERE v.used > v.allowed LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'All projects of an owner may store at most % % together.', excess.allowed, excess.name
      USING ERRCODE = 'TQ001';
  END IF;
END $$;

CREATE FUNCTION has_owner_limits() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM quota_defaults WHERE num_nonnulls(owner_files, owner_bytes, owner_chunks) > 0)
$$;

-- In the order of their ids, so that two transactions never wait for each other.
CREATE FUNCTION check_owners(projects uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owner uuid;
BEGIN
  FOR owner IN SELECT DISTINCT user_id FROM memberships
    WHERE project_id = ANY (projects) AND role = 'owner' AND has_owner_limits() ORDER BY user_id
  LOOP
    PERFORM check_owner(owner);
  END LOOP;
END $$;

-- Reserves the usage of a copy of a template for its owner, before the copy begins.
CREATE FUNCTION reserve_quota(project uuid, owner uuid, template uuid, seconds integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM quota_reservations WHERE expires_at < clock_timestamp();
  IF NOT has_owner_limits() THEN
    RETURN;
  END IF;
  INSERT INTO quota_reservations
    WITH served AS (
      SELECT w.file_id, w.file_version_id FROM environments e
        JOIN environment_files w ON w.environment_id = e.id
        WHERE e.project_id = template AND e.active_release_id IS NULL
      UNION ALL SELECT r.file_id, r.file_version_id FROM environments e
        JOIN release_files r ON r.release_id = e.active_release_id WHERE e.project_id = template
    ), stored AS (
      SELECT 0 AS files, stored_bytes AS bytes, 0 AS chunks FROM projects WHERE id = template
      UNION ALL SELECT 0, stored_bytes, 0 FROM environments WHERE project_id = template
      UNION ALL SELECT 0, 200, 0 FROM served
      UNION ALL SELECT 1, stored_bytes, 0 FROM files WHERE id IN (SELECT file_id FROM served)
      UNION ALL SELECT 0, stored_bytes, 0 FROM file_versions WHERE id IN (SELECT file_version_id FROM served)
      UNION ALL SELECT 0, stored_bytes, 1 FROM chunks WHERE file_version_id IN (SELECT file_version_id FROM served))
    SELECT project, owner, sum(files), sum(bytes), sum(chunks), clock_timestamp() + make_interval(secs => seconds)
    FROM stored;
  PERFORM check_owner(owner);
END $$;

-- Charges a project for the usage that this transaction has added, which may be negative. Compares the sum with the
-- limits of the project, and of its owners unless `is_reserved`.
CREATE FUNCTION charge(project uuid, added_files bigint, added_bytes bigint, added_chunks bigint, is_reserved boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  used quota_usage;
  allowed record;
  excess record;
BEGIN
  INSERT INTO quota_deltas VALUES (project, added_files, added_bytes, added_chunks);
  SELECT *, num_nonnulls(files, bytes, chunks) > 0 OR has_owner_limits() AS is_any INTO allowed
    FROM project_limits(project);
  IF NOT allowed.is_any AND random() > 0.02 THEN
    RETURN;
  END IF;
  INSERT INTO quota_usage VALUES (project, 0, 0, 0) ON CONFLICT DO NOTHING;
  IF allowed.is_any THEN
    PERFORM FROM quota_usage WHERE project_id = project FOR UPDATE;
  ELSE
    -- Without a limit a later charge can add the deltas, so this one does not wait for the lock.
    PERFORM FROM quota_usage WHERE project_id = project FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN; END IF;
  END IF;
  WITH folded AS (DELETE FROM quota_deltas WHERE project_id = project RETURNING files, bytes, chunks)
    UPDATE quota_usage u SET files = u.files + s.files, bytes = u.bytes + s.bytes, chunks = u.chunks + s.chunks
    FROM (SELECT sum(files) AS files, sum(bytes) AS bytes, sum(chunks) AS chunks FROM folded) s
    WHERE u.project_id = project RETURNING u.* INTO used;
  SELECT v.* INTO excess FROM (VALUES ('files', added_files, used.files, allowed.files),
      ('bytes', added_bytes, used.bytes, allowed.bytes),
      ('chunks', added_chunks, used.chunks, allowed.chunks)) AS v (name, added, used, allowed)
    WHERE v.added > 0 AND v.used > v.allowed LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'The project may store at most % %, and would store %.',
      excess.allowed, excess.name, excess.used USING ERRCODE = 'TQ001';
  END IF;
  IF NOT is_reserved AND (added_files > 0 OR added_bytes > 0 OR added_chunks > 0) THEN
    PERFORM check_owners(ARRAY[project]);
  END IF;
END $$;

-- The audit log: actions with their actors. Rows refer to others without foreign keys, because they outlive them.

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL CHECK (action IN ('import', 'denied',
    'key.created', 'key.changed', 'key.revoked', 'key.deleted', 'member.added', 'member.changed', 'member.removed',
    'invitation.created', 'invitation.changed', 'invitation.ended', 'project.created', 'project.changed',
    'project.deleted', 'environment.created', 'environment.changed', 'environment.activated', 'environment.deleted',
    'release.created', 'release.changed', 'release.deleted', 'webhook.created', 'webhook.changed', 'webhook.deleted',
    'branch.created', 'branch.deleted', 'file.written', 'files.removed', 'embeddings.rebuilt')),
  -- `http` or `command`; null for a statement that names no actor.
  via text,
  user_id uuid,
  key_id uuid,
  request_id text,
  project_id uuid,
  details jsonb NOT NULL DEFAULT '{}',
  stored_bytes integer GENERATED ALWAYS AS (200 + octet_length(details::text)) STORED
);
CREATE INDEX audit_log_at ON audit_log (at);
CREATE INDEX audit_log_project ON audit_log (project_id, id) WHERE project_id IS NOT NULL;
CREATE INDEX audit_log_user ON audit_log (user_id, id) WHERE user_id IS NOT NULL;

-- The actor of this transaction or session: a JSON object in the setting `tessera.actor`.
CREATE FUNCTION audit_actor() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('tessera.actor', true), ''), '{}')::jsonb
$$;

-- Writes an entry by the actor of this transaction or session, unless there are no details.
CREATE FUNCTION note_change(event text, project uuid, noted jsonb) RETURNS void LANGUAGE sql AS $$
  WITH entry AS (
    INSERT INTO audit_log (action, via, user_id, key_id, request_id, project_id, details)
    SELECT event, actor->>'via', (actor->>'user_id')::uuid, (actor->>'key_id')::uuid, actor->>'request_id',
      project, noted
    FROM audit_actor() AS actor WHERE noted IS NOT NULL
    RETURNING project_id, stored_bytes)
  INSERT INTO quota_deltas SELECT p.id, 0, e.stored_bytes, 0 FROM entry e JOIN projects p ON p.id = e.project_id
$$;

-- The fields that differ, with their new values; null if none does. The log has no secrets and no long values: such a
-- field is only said to have changed.
CREATE FUNCTION changed_fields(earlier jsonb, later jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_object_agg(key, CASE WHEN key IN ('config', 'environment_variables', 'secret')
    OR octet_length(value::text) > 1000 THEN '"changed"' ELSE value END)
  FROM jsonb_each(later) WHERE value IS DISTINCT FROM earlier->key
$$;

-- A project that is deleted takes its parts with it, and has one entry for all of them.
CREATE FUNCTION has_project(project uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM projects WHERE id = project)
$$;

CREATE FUNCTION audited_quota(quota bigint) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE quota WHEN 9223372036854775807 THEN '"none"' ELSE coalesce(to_jsonb(quota), '"default"') END
$$;

-- Triggers write the entries of all changes of rows, so that a request, a command, a record of an import and a
-- statement by hand leave the same ones. Each has the fields of its event; those in `compared`, of a row `t`, are noted
-- where they change. Documents of callers are hashed, because jsonb refuses some. A release is created when it is
-- frozen, because only then its contents are known: the code that fills releases notes that.
DO $$
DECLARE
  part record;
  entry text;
BEGIN
  FOR part IN SELECT * FROM (VALUES
    ('projects', 'INSERT', 'project.created', 'true', 'NEW.slug, left(NEW.name, 255) AS name, NEW.embedder', NULL),
    ('projects', 'UPDATE', 'project.changed', 'true',
      'CASE WHEN OLD.embedder <> NEW.embedder THEN OLD.embedder END AS earlier_embedder',
      't.slug, t.name, t.description, t.embedder, t.features, md5(t.config::text) AS config, t.is_claimed, t.provider,
      t.layout, t.published_at, jsonb_build_object(''files'', audited_quota(t.max_files),
        ''bytes'', audited_quota(t.max_bytes), ''chunks'', audited_quota(t.max_chunks)) AS quota'),
    ('projects', 'DELETE', 'project.deleted', 'true', 'OLD.slug', NULL),
    -- The actor of an accepted invitation names the user who invited.
    ('memberships', 'INSERT', 'member.added', 'true',
      'NEW.user_id AS member, NEW.role, audit_actor()->''invited_by'' AS invited_by', NULL),
    ('memberships', 'UPDATE', 'member.changed', 'NEW.role <> OLD.role',
      'NEW.user_id AS member, NEW.role, OLD.role AS earlier_role', NULL),
    ('memberships', 'DELETE', 'member.removed', 'true', 'OLD.user_id AS member, OLD.role', NULL),
    -- An invitation ends when it is accepted, declined, withdrawn or replaced, and the actor tells which: it is
    -- accepted if the same request adds its member.
    ('invitations', 'INSERT', 'invitation.created', 'true', 'NEW.invitee AS invited, NEW.role, NEW.invited_by', NULL),
    ('invitations', 'UPDATE', 'invitation.changed', '(NEW.role, NEW.invited_by) <> (OLD.role, OLD.invited_by)',
      'NEW.invitee AS invited, NEW.role, OLD.role AS earlier_role, NEW.invited_by', NULL),
    ('invitations', 'DELETE', 'invitation.ended', 'has_project(OLD.project_id)',
      'OLD.invitee AS invited, OLD.role, OLD.invited_by', NULL),
    ('environments', 'INSERT', 'environment.created', 'true', 'NEW.name AS environment', NULL),
    ('environments', 'UPDATE', 'environment.changed', 'true', 'NEW.name AS environment',
      't.protected, t.domains, t.server_hostname, md5(t.environment_variables::text) AS environment_variables'),
    ('environments', 'UPDATE', 'environment.activated', 'NEW.active_release_id IS DISTINCT FROM OLD.active_release_id',
      'NEW.name AS environment, (SELECT name FROM releases WHERE id = NEW.active_release_id) AS release,
      (SELECT name FROM releases WHERE id = OLD.active_release_id) AS earlier_release', NULL),
    ('environments', 'DELETE', 'environment.deleted', 'has_project(OLD.project_id)', 'OLD.name AS environment', NULL),
    ('releases', 'UPDATE', 'release.changed', 'true', 'NEW.name AS release',
      't.export_status, t.build_status, t.deploy_status'),
    ('releases', 'DELETE', 'release.deleted', 'has_project(OLD.project_id)', 'OLD.name AS release', NULL),
    ('webhook_definitions', 'INSERT', 'webhook.created', 'true', 'NEW.name AS webhook, NEW.enabled', NULL),
    ('webhook_definitions', 'UPDATE', 'webhook.changed', 'has_project(NEW.project_id)', 'NEW.name AS webhook',
      't.enabled, t.conversation_id AS conversation, t.secret_hash AS secret'),
    ('webhook_definitions', 'DELETE', 'webhook.deleted', 'has_project(OLD.project_id)', 'OLD.name AS webhook', NULL),
    ('branches', 'INSERT', 'branch.created', 'true', 'NEW.name AS branch', NULL),
    ('branches', 'DELETE', 'branch.deleted', 'has_project(OLD.project_id)', 'OLD.name AS branch', NULL),
    -- The actor of a rotation names the key that the new one replaces.
    ('api_keys', 'INSERT', 'key.created', 'true', 'NEW.id AS key, NEW.key_prefix, NEW.name, NEW.user_id AS "user",
      audit_actor()->''replaces'' AS replaces', NULL),
    ('api_keys', 'UPDATE', 'key.revoked', 'OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL',
      'NEW.id AS key, NEW.key_prefix, NEW.name, NEW.user_id AS "user"', NULL),
    ('api_keys', 'UPDATE', 'key.changed', 'true', 'NEW.id AS key, NEW.key_prefix, NEW.name, NEW.user_id AS "user",
      CASE WHEN OLD.name <> NEW.name THEN OLD.name END AS earlier_name',
      't.name, t.scopes, t.expires_at, t.project_id AS project'),
    -- A command that queries the service may make a key for the one request and delete it. That is one entry.
    ('api_keys', 'DELETE', 'key.deleted',
      'OLD.expires_at IS NULL OR OLD.expires_at > OLD.created_at + interval ''2 minutes''',
      'OLD.id AS key, OLD.key_prefix, OLD.name, OLD.user_id AS "user"', NULL)
  ) AS parts (name, operation, event, condition, fields, compared)
  LOOP
    entry := format('note_change(%L, %s.%I, (SELECT %s FROM (SELECT %s) AS f)', part.event,
      CASE part.operation WHEN 'DELETE' THEN 'OLD' ELSE 'NEW' END,
      CASE part.name WHEN 'projects' THEN 'id' ELSE 'project_id' END,
      CASE part.event WHEN 'environment.activated' THEN 'to_jsonb(f)' ELSE 'jsonb_strip_nulls(to_jsonb(f))' END,
      part.fields);
    IF part.compared IS NOT NULL THEN
      entry := entry || format(' || changed_fields((SELECT to_jsonb(c) FROM (SELECT OLD.*) t, LATERAL (SELECT %1$s) c),
        (SELECT to_jsonb(c) FROM (SELECT NEW.*) t, LATERAL (SELECT %1$s) c))', part.compared);
    END IF;
    EXECUTE format('CREATE FUNCTION %1$s() RETURNS trigger LANGUAGE plpgsql
        AS $trigger$ BEGIN PERFORM %2$s); RETURN NULL; END $trigger$;
      CREATE TRIGGER %1$s AFTER %3$s ON %4$s FOR EACH ROW WHEN (%5$s) EXECUTE FUNCTION %1$s()',
      'note_' || replace(part.event, '.', '_'), entry, part.operation, part.name, part.condition);
  END LOOP;
END $$;

-- Reports of running servers about their indexes, and about questions.

CREATE TABLE index_state (
  node_id uuid NOT NULL,
  project_id uuid NOT NULL,
  -- The text index has a row of its own, with dimension 0 and its number of documents.
  dimension integer NOT NULL,
  seq bigint NOT NULL,
  vectors bigint NOT NULL,
  graphed bigint NOT NULL,
  documents bigint NOT NULL DEFAULT 0,
  memory_bytes bigint NOT NULL,
  -- The recall that the server measured in live searches; null before the first sample.
  recall real CHECK (recall BETWEEN 0 AND 1),
  recall_samples integer CHECK (recall_samples > 0),
  -- Imports pause while versions that they announced have been waiting to be indexed for too long.
  waiting_ms bigint NOT NULL DEFAULT 0,
  -- True when the report describes an index at rest: the project is loaded, nothing is being added, and
  -- its graphs are built and calibrated. A reader compares seq with the change log in addition.
  settled boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (node_id, project_id, dimension)
);

-- How far each running server has read the change log. A project of which a server has no row in index_state is
-- not in its memory, once it has read the project's last change: a search reads it from the database then.
CREATE TABLE index_nodes (
  id uuid PRIMARY KEY,
  seq bigint NOT NULL,
  -- The time of the last request for a report that the server has answered, in seconds since 1970. By then it had dropped
  -- the cached rights and scopes that changes before the request have made invalid.
  answered double precision NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Tasks of the index that have failed twice in a row, by project, with the number of failures and the time of the last.
CREATE TABLE parked_tasks (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  task text NOT NULL,
  failures bigint NOT NULL DEFAULT 1,
  parked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, task)
);

-- Tells this database from any other: an index snapshot made from another one is not used.
CREATE TABLE database_identity (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  only_row boolean NOT NULL DEFAULT true UNIQUE CHECK (only_row)
);
INSERT INTO database_identity DEFAULT VALUES;

-- The questions that projects are asked, by day in UTC.
CREATE TABLE question_days (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  day date NOT NULL,
  asked bigint NOT NULL,
  without_hits bigint NOT NULL,
  -- The number of answers per range of durations. The service knows the bounds.
  durations bigint[] NOT NULL,
  PRIMARY KEY (project_id, day)
);
CREATE INDEX question_days_day ON question_days (day);

-- The most frequent questions of a day.
CREATE TABLE questions (
  project_id uuid NOT NULL,
  day date NOT NULL,
  question text NOT NULL,
  asked bigint NOT NULL,
  without_hits bigint NOT NULL,
  PRIMARY KEY (project_id, day, question),
  FOREIGN KEY (project_id, day) REFERENCES question_days ON DELETE CASCADE
);
