-- The id of a webhook as its project and its senders know it. Projects may have webhooks with equal names, and the secret of a
-- delivery decides, so that nobody can take a name from another project or find out that it is taken. The
-- first to use a name has it as its id, which the version before this one finds; others have drawn ones.
ALTER TABLE webhook_definitions ADD COLUMN name text;
UPDATE webhook_definitions SET name = id;
CREATE UNIQUE INDEX webhook_definitions_name ON webhook_definitions (name, project_id);

CREATE FUNCTION name_webhook_definition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.name := coalesce(NEW.name, NEW.id);
  RETURN NEW;
END $$;
CREATE TRIGGER webhook_definitions_named BEFORE INSERT ON webhook_definitions
  FOR EACH ROW EXECUTE FUNCTION name_webhook_definition();

-- As before, but what others read has the name.
CREATE OR REPLACE FUNCTION deliver_webhook(
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
  author text;
BEGIN
  SELECT * INTO event FROM webhook_events e
    WHERE e.webhook_definition_id = definition_id AND e.idempotency_key = key;
  IF NOT FOUND THEN SELECT * INTO event FROM webhook_events e WHERE e.id = expected_ids[1]; END IF;
  IF FOUND THEN RETURN NEXT event; RETURN; END IF;

  SELECT * INTO definition FROM webhook_definitions d WHERE d.id = definition_id AND d.enabled;
  IF NOT FOUND OR NOT hold_project(definition.project_id) THEN RETURN; END IF;
  author := 'webhook:' || definition.name;

  SELECT * INTO place FROM conversations c
    WHERE c.id = definition.conversation_id AND c.project_id = definition.project_id FOR UPDATE;
  IF FOUND THEN
    place_id := place.id;
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
  RETURN NEXT event;
END $$;
