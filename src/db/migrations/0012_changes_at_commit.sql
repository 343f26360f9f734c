-- Changes get their numbers when their transaction commits. Numbers must become visible in their
-- order, or a follower would step over a slower transaction's, so whoever takes one holds a lock until
-- the commit is done. It used to be taken by the first statement that changed a scope. Then whatever
-- else the transaction waited for, another transaction's rows or a client, all other projects waited
-- for as well. A trigger at commit comes after all of that: nothing but the end of the commit follows.

-- The changes of transactions that are running. A commit moves them to change_log, so nobody but the
-- transaction itself ever sees its rows.
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

CREATE FUNCTION number_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changes change_pending[];
BEGIN
  -- A scope that changed several times is logged once, at its last place.
  WITH taken AS (DELETE FROM change_pending WHERE xid = pg_current_xact_id() RETURNING *),
    last AS (SELECT DISTINCT ON (project_id, kind, ref) * FROM taken
      ORDER BY project_id, kind, ref, id DESC)
    SELECT array_agg(last::change_pending ORDER BY id) INTO changes FROM last;
  PERFORM pg_advisory_xact_lock(7305, 1);
  INSERT INTO change_log (project_id, kind, ref)
    SELECT project_id, kind, ref FROM unnest(changes) ORDER BY id;
  PERFORM pg_notify('tessera_changes', '');
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER change_pending_commit AFTER INSERT ON change_pending
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.is_first)
  EXECUTE FUNCTION number_changes();

CREATE OR REPLACE FUNCTION append_change(project uuid, change_kind text, reference uuid)
RETURNS void LANGUAGE sql AS $$
  INSERT INTO change_pending (is_first, project_id, kind, ref)
    SELECT NOT EXISTS (SELECT FROM change_pending WHERE xid = pg_current_xact_id() AND is_first),
      project, change_kind, reference
$$;

CREATE OR REPLACE FUNCTION log_environment_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(project_id, 'environment', environment_id)
    FROM (SELECT DISTINCT project_id, environment_id FROM touched) AS scopes;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION log_release_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM append_change(project_id, 'release', release_id)
    FROM (SELECT DISTINCT project_id, release_id FROM touched) AS scopes;
  RETURN NULL;
END $$;

-- The triggers that call it stay, because dropping them would wait for every import that is running,
-- and everybody else for that.
CREATE OR REPLACE FUNCTION lock_change_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NULL;
END $$;
