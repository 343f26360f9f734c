-- Whatever a project stores is counted, in the transaction that stores it, for every project: files, chunks, and as
-- bytes the texts, documents and embeddings in all tables that clients can fill. The list of them is in one place,
-- from which the triggers and the first count are made.
--
-- A transaction notes what it adds in quota_notes. Its commit moves that to quota_deltas. Where something is limited, it
-- also adds the deltas to quota_usage, under the lock of the project's row there, and compares; so a limit holds
-- however many write at the same time. Where nothing is, somebody adds the deltas later, and writers wait for nobody.

DROP TRIGGER files_quota ON files;
DROP TRIGGER files_quota_usage ON files;
DROP TRIGGER file_versions_quota ON file_versions;
DROP TRIGGER file_versions_quota_usage ON file_versions;
DROP TRIGGER projects_quota_usage ON projects;
DROP FUNCTION note_quota_checks();
DROP FUNCTION note_quota_check(uuid, bigint, bigint, bigint);
DROP FUNCTION forget_quota_usage();
DROP FUNCTION forget_project_usage();

DELETE FROM quota_usage;


-- What transactions that are running have added. A commit moves it to quota_deltas, so nobody but the transaction itself
-- ever sees its rows. The table quota_checks is that of the version before this one.
CREATE TABLE quota_notes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  -- True for the first rows of the transaction, whose triggers settle all of them.
  is_first boolean NOT NULL DEFAULT true,
  project_id uuid NOT NULL,
  files bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  chunks bigint NOT NULL DEFAULT 0,
  -- True when the transaction makes somebody an owner.
  owners boolean NOT NULL DEFAULT false
);
CREATE INDEX quota_notes_xid ON quota_notes (xid, is_first);
CREATE CONSTRAINT TRIGGER quota_notes_commit AFTER INSERT ON quota_notes
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_first) EXECUTE FUNCTION check_quota();

-- What was committed and is not in quota_usage yet.
CREATE TABLE quota_deltas (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL
);
CREATE INDEX quota_deltas_project ON quota_deltas (project_id);

-- What projects and owners without limits of their own may store; null for no limit. The service writes it.
CREATE TABLE quota_defaults (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  files bigint,
  bytes bigint,
  chunks bigint,
  owner_files bigint,
  owner_bytes bigint,
  owner_chunks bigint
);

-- What copies of templates that are being made will store. A copy sees the database as of its beginning, so what
-- the owner's other transactions store meanwhile is compared with this.
CREATE TABLE quota_reservations (
  project_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  files bigint NOT NULL,
  bytes bigint NOT NULL,
  chunks bigint NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX quota_reservations_owner ON quota_reservations (owner_id);

-- The bytes of a document as it was written, or else as jsonb has it; none for an empty one.
CREATE FUNCTION document_bytes(written json, document jsonb) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(octet_length(nullif(nullif(coalesce(written::text, document::text), '{}'), '[]')), 0)
$$;

DO $$
DECLARE
  part record;
  op record;
  counts text[];
BEGIN
  FOR part IN SELECT * FROM (VALUES
    ('projects', '%6$s t', 't.id', '0', 'document_bytes(t.config_written, t.config)', '0'),
    ('environments', '%6$s t', 't.project_id', '0',
      'document_bytes(t.environment_variables_written, t.environment_variables)', '0'),
    ('files', '%6$s t', 't.project_id', '1', '0', '0'),
    ('file_versions', '%6$s t', 't.project_id', '0', 'octet_length(t.content)', '0'),
    ('chunks', '%6$s t', 't.project_id', '0', 'octet_length(t.content)
      + document_bytes(t.metadata_written, t.metadata) + coalesce(octet_length(t.embedding), 0)', '1'),
    ('branch_approvals', '%6$s t JOIN branches b ON b.id = t.branch_id', 'b.project_id', '0',
      'octet_length(concat(t.comment, t.dismissed_reason))', '0'),
    ('status_checks', '%6$s t JOIN branches b ON b.id = t.branch_id', 'b.project_id', '0',
      'octet_length(concat(t.check_name, t.description, t.external_url))', '0'),
    ('conversations', '%6$s t', 't.project_id', '0',
      'octet_length(concat(t.title, t.summary)) + document_bytes(t.metadata_written, t.metadata)', '0'),
    ('messages', '%6$s t JOIN conversations c ON c.id = t.conversation_id', 'c.project_id', '0',
      'octet_length(t.parts::text) + document_bytes(t.metadata_written, t.metadata)
      + document_bytes(t.token_usage_written, t.token_usage)', '0'),
    ('input_requests', '%6$s t JOIN conversations c ON c.id = t.conversation_id', 'c.project_id', '0',
      'octet_length(concat(t.title, t.description)) + document_bytes(t.fields_written, t.fields)
      + document_bytes(t.recommendations_written, t.recommendations)
      + document_bytes(t.metadata_written, t.metadata)', '0'),
    ('input_responses', '%6$s t JOIN conversations c ON c.id = t.conversation_id', 'c.project_id', '0',
      'octet_length(t.values::text)', '0'),
    ('webhook_events', '%6$s t', 't.project_id', '0', 'octet_length(t.payload::text)', '0')
  ) AS parts (name, source, project, files, bytes, chunks)
  LOOP
    FOR op IN SELECT * FROM (VALUES
      ('insert', 'REFERENCING NEW TABLE AS added', ARRAY['added', '1']),
      ('delete', 'REFERENCING OLD TABLE AS removed', ARRAY['removed', '-1']),
      ('update', 'REFERENCING NEW TABLE AS added OLD TABLE AS removed', ARRAY['added', '1', 'removed', '-1'])
    ) AS ops (name, tables, signed)
    LOOP
      counts := ARRAY(SELECT format('SELECT %1$s AS project, %2$s * (%3$s)::bigint AS files, %2$s * (%4$s)::bigint AS bytes,
          %2$s * (%5$s)::bigint AS chunks FROM ' || part.source,
          part.project, op.signed[i + 1], part.files, part.bytes, part.chunks, op.signed[i])
        FROM generate_series(1, cardinality(op.signed), 2) i);
      EXECUTE format($body$
        CREATE FUNCTION note_%1$s_%2$s() RETURNS trigger LANGUAGE plpgsql AS $trigger$
        BEGIN
          -- Nothing of a project that is gone needs to be counted, however many rows it had.
          INSERT INTO quota_notes (is_first, project_id, files, bytes, chunks)
          SELECT NOT EXISTS (SELECT FROM quota_notes WHERE xid = pg_current_xact_id() AND is_first), *
          FROM (SELECT project, sum(files), coalesce(sum(bytes), 0), sum(chunks) FROM (%3$s) changes
            WHERE EXISTS (SELECT FROM projects WHERE projects.id = project) GROUP BY project
            HAVING sum(files) <> 0 OR sum(bytes) <> 0 OR sum(chunks) <> 0) AS sums;
          RETURN NULL;
        END $trigger$ $body$, part.name, op.name, array_to_string(counts, ' UNION ALL '));
      EXECUTE format('CREATE TRIGGER %1$s_stored_%2$s AFTER %2$s ON %1$s %3$s
        FOR EACH STATEMENT EXECUTE FUNCTION note_%1$s_%2$s()', part.name, op.name, op.tables);
    END LOOP;
    -- The first count. The triggers hold the table, so nothing escapes.
    EXECUTE format('INSERT INTO quota_usage AS u (project_id, files, bytes, chunks, counted_at)
      SELECT %1$s, sum(%3$s), coalesce(sum(%4$s), 0), sum(%5$s), now() FROM ' || part.source || ' WHERE %1$s IS NOT NULL GROUP BY 1
      ON CONFLICT (project_id) DO UPDATE SET files = u.files + excluded.files,
        bytes = u.bytes + excluded.bytes, chunks = u.chunks + excluded.chunks',
      part.project, '', part.files, part.bytes, part.chunks, part.name);
  END LOOP;
END $$;

CREATE FUNCTION note_owners() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO quota_notes (project_id, owners) VALUES (NEW.project_id, true);
  RETURN NULL;
END $$;
CREATE TRIGGER memberships_owners AFTER INSERT OR UPDATE OF role ON memberships FOR EACH ROW
  WHEN (NEW.role = 'owner') EXECUTE FUNCTION note_owners();

CREATE OR REPLACE FUNCTION project_usage(project uuid, OUT files bigint, OUT bytes bigint, OUT chunks bigint)
LANGUAGE sql AS $$
  SELECT coalesce(sum(files), 0)::bigint, coalesce(sum(bytes), 0)::bigint, coalesce(sum(chunks), 0)::bigint
  FROM (SELECT files, bytes, chunks FROM quota_usage WHERE project_id = project
    UNION ALL SELECT files, bytes, chunks FROM quota_deltas WHERE project_id = project) AS stored
$$;

-- What a project may store: its own limits, or else the defaults.
CREATE FUNCTION project_limits(project uuid, OUT files bigint, OUT bytes bigint, OUT chunks bigint)
LANGUAGE sql AS $$
  SELECT coalesce(p.max_files, d.files), coalesce(p.max_bytes, d.bytes), coalesce(p.max_chunks, d.chunks)
  FROM projects p LEFT JOIN quota_defaults d ON true WHERE p.id = project
$$;

-- Compares what the projects of an owner store with what an owner may. Whoever adds to one of them waits here.
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

-- Reserves for an owner what a copy of a template will store, before it begins.
CREATE FUNCTION reserve_quota(project uuid, owner uuid, template uuid, seconds integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM quota_reservations WHERE expires_at < clock_timestamp();
  IF NOT EXISTS (SELECT FROM quota_defaults WHERE num_nonnulls(owner_files, owner_bytes, owner_chunks) > 0) THEN
    RETURN;
  END IF;
  INSERT INTO quota_reservations
    WITH served AS (
      SELECT w.file_id, w.file_version_id AS id FROM environments e
        JOIN environment_files w ON w.environment_id = e.id
        WHERE e.project_id = template AND e.active_release_id IS NULL
      UNION SELECT r.file_id, r.file_version_id FROM environments e
        JOIN release_files r ON r.release_id = e.active_release_id WHERE e.project_id = template)
    SELECT project, owner, (SELECT count(DISTINCT file_id) FROM served),
      (SELECT coalesce(sum(octet_length(v.content)), 0) FROM served JOIN file_versions v USING (id))
        + coalesce(sum(octet_length(c.content) + document_bytes(c.metadata_written, c.metadata)
          + coalesce(octet_length(c.embedding), 0)), 0), count(*),
      clock_timestamp() + make_interval(secs => seconds)
    FROM served s JOIN chunks c ON c.file_version_id = s.id;
  PERFORM check_owner(owner);
END $$;

-- Adds what this transaction has stored, and compares it with the limits. The setting tessera.quota is `counted` in a
-- transaction that stores what the service makes of texts it has accepted, and `reserved` in one whose owner
-- has been checked.
CREATE FUNCTION settle_quotas() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  mode text := coalesce(current_setting('tessera.quota', true), '');
  has_owner_limits boolean := EXISTS (SELECT FROM quota_defaults
    WHERE num_nonnulls(owner_files, owner_bytes, owner_chunks) > 0);
  noted record;
  used quota_usage;
  excess record;
  grown uuid[] := '{}';
  owner uuid;
BEGIN
  -- In the order of their ids, so that two transactions never wait for each other.
  FOR noted IN
    WITH taken AS (DELETE FROM quota_notes WHERE xid = pg_current_xact_id() RETURNING *),
      sums AS (SELECT t.project_id, sum(t.files) AS files, sum(t.bytes) AS bytes, sum(t.chunks) AS chunks,
        bool_or(t.owners) AS owners
        FROM taken t JOIN projects p ON p.id = t.project_id GROUP BY t.project_id),
      kept AS (INSERT INTO quota_deltas SELECT project_id, files, bytes, chunks FROM sums)
    SELECT s.*, l.files AS max_files, l.bytes AS max_bytes, l.chunks AS max_chunks
    FROM sums s, project_limits(s.project_id) l ORDER BY s.project_id
  LOOP
    IF noted.owners OR noted.files > 0 OR noted.bytes > 0 OR noted.chunks > 0 THEN
      grown := grown || noted.project_id;
    END IF;
    IF num_nonnulls(noted.max_files, noted.max_bytes, noted.max_chunks) > 0 OR has_owner_limits THEN
      INSERT INTO quota_usage VALUES (noted.project_id, 0, 0, 0, now()) ON CONFLICT DO NOTHING;
      PERFORM FROM quota_usage WHERE project_id = noted.project_id FOR UPDATE;
    ELSE
      -- Now and then, and nobody waits for it.
      CONTINUE WHEN random() > 0.02;
      INSERT INTO quota_usage VALUES (noted.project_id, 0, 0, 0, now()) ON CONFLICT DO NOTHING;
      PERFORM FROM quota_usage WHERE project_id = noted.project_id FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
    END IF;
    WITH folded AS (
      DELETE FROM quota_deltas WHERE project_id = noted.project_id RETURNING files, bytes, chunks)
    UPDATE quota_usage u SET files = u.files + s.files, bytes = u.bytes + s.bytes, chunks = u.chunks + s.chunks
      FROM (SELECT sum(files) AS files, sum(bytes) AS bytes, sum(chunks) AS chunks FROM folded) s
      WHERE u.project_id = noted.project_id RETURNING u.* INTO used;
    CONTINUE WHEN mode = 'counted';
    SELECT v.* INTO excess FROM (VALUES ('files', noted.files, used.files, noted.max_files),
        ('bytes', noted.bytes, used.bytes, noted.max_bytes),
        ('chunks', noted.chunks, used.chunks, noted.max_chunks)) AS v (name, added, used, allowed)
      WHERE v.added > 0 AND v.used > v.allowed LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'The project may store at most % %, and would store %.',
        excess.allowed, excess.name, excess.used USING ERRCODE = 'TQ001';
    END IF;
  END LOOP;
  IF has_owner_limits AND mode = '' THEN
    FOR owner IN SELECT DISTINCT user_id FROM memberships
      WHERE project_id = ANY (grown) AND role = 'owner' ORDER BY user_id
    LOOP
      PERFORM check_owner(owner);
    END LOOP;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION check_quota() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM settle_quotas();
  RETURN NULL;
END $$;

-- As before, but quotas come first: all transactions take their locks in this order.
CREATE OR REPLACE FUNCTION number_changes() RETURNS trigger LANGUAGE plpgsql AS $$
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
  PERFORM settle_quotas();
  PERFORM pg_advisory_xact_lock(7305, 1);
  INSERT INTO change_log (project_id, kind, ref)
    SELECT project_id, kind, ref FROM unnest(changes) ORDER BY id;
  PERFORM pg_notify('tessera_changes', '');
  RETURN NULL;
END $$;
