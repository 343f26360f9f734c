-- Callers' documents as they were written: the type json keeps the digits of numbers and the order of names, which
-- jsonb does not. Null in rows of earlier versions of the service, which read and write only the jsonb beside it.

ALTER TABLE projects ADD COLUMN config_written json;
ALTER TABLE environments ADD COLUMN environment_variables_written json;
ALTER TABLE chunks ADD COLUMN metadata_written json;
ALTER TABLE conversations ADD COLUMN metadata_written json;
ALTER TABLE messages ADD COLUMN token_usage_written json, ADD COLUMN metadata_written json;
ALTER TABLE input_requests ADD COLUMN fields_written json, ADD COLUMN recommendations_written json,
  ADD COLUMN metadata_written json;

-- While an earlier version runs beside this one, it may replace a document without its text.
CREATE FUNCTION forget_written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], NULL));
END $$;

DO $$
DECLARE
  pair text[];
BEGIN
  FOREACH pair SLICE 1 IN ARRAY ARRAY[
    ['projects', 'config'], ['environments', 'environment_variables'], ['conversations', 'metadata'],
    ['messages', 'token_usage'], ['messages', 'metadata'], ['input_requests', 'fields'],
    ['input_requests', 'recommendations'], ['input_requests', 'metadata']]
  LOOP
    EXECUTE format(
      'CREATE TRIGGER %1$s_%2$s_written BEFORE UPDATE OF %2$I ON %1$I FOR EACH ROW
        WHEN (NEW.%2$I IS DISTINCT FROM OLD.%2$I AND NEW.%2$s_written IS NOT NULL
          AND NEW.%2$s_written::text IS NOT DISTINCT FROM OLD.%2$s_written::text)
        EXECUTE FUNCTION forget_written(%2$s_written)', pair[1], pair[2]);
  END LOOP;
END $$;
