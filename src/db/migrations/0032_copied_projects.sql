-- True for the changes of a transaction that copies a project. The indexes of a copy are loaded by the first request
-- that asks for it: loading each copy at once would let one small request cause minutes of work.
ALTER TABLE change_log ADD COLUMN is_copy boolean NOT NULL DEFAULT false;

-- As before, but it tells what copies.
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
  -- Only a copy reserves what it will store.
  INSERT INTO change_log (project_id, kind, ref, is_copy)
    SELECT project_id, kind, ref, coalesce(current_setting('tessera.quota', true) = 'reserved', false)
    FROM unnest(changes) ORDER BY id;
  PERFORM pg_notify('tessera_changes', '');
  RETURN NULL;
END $$;
