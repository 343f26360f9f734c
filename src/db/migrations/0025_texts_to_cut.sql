-- True if a text has something to cut into chunks: a character that no blank is. The blanks are those that the
-- service trims from chunks, in databases of any locale.
CREATE FUNCTION has_text(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT content ~ ('[^\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]' COLLATE "C")
$$;

CREATE OR REPLACE FUNCTION check_embedder() RETURNS trigger LANGUAGE plpgsql AS $$
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
    WHERE project_id = NEW.id AND chunk_count = 0 AND has_text(content)
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
