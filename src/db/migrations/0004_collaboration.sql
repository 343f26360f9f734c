-- Branch checks, conversations, input requests and webhooks.

CREATE TABLE branches (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL CHECK (name <> ''),
  created_at timestamptz NOT NULL DEFAULT now(),
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
  dismissed_reason text
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
  metadata jsonb,
  agent_id text,
  runtime_target_kind text,
  runtime_target_environment_id text,
  runtime_target_branch_id text,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_message_at timestamptz,
  archived_at timestamptz
);
CREATE INDEX conversations_project ON conversations (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  parent_id uuid,
  seq integer NOT NULL CHECK (seq >= 0),
  role text NOT NULL,
  -- json and not jsonb, here and wherever a caller's document is kept: it comes back as it was
  -- sent, with its order, its digits and its escapes, some of which jsonb refuses.
  parts json NOT NULL DEFAULT '[]' CHECK (json_typeof(parts) = 'array'),
  status text NOT NULL DEFAULT 'completed',
  created_by text,
  model text,
  token_usage jsonb,
  finish_reason text,
  cost_credits text,
  idempotency_key text,
  metadata jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz,
  edited_at timestamptz,
  UNIQUE (conversation_id, seq),
  UNIQUE (conversation_id, id),
  FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
  message_id uuid,
  status text NOT NULL DEFAULT 'queued',
  created_at timestamptz NOT NULL DEFAULT now()
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
  fields jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(fields) = 'array'),
  recommendations jsonb,
  metadata jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  submitted_at timestamptz,
  cancelled_at timestamptz,
  expired_at timestamptz,
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
  FOREIGN KEY (conversation_id, input_request_id)
    REFERENCES input_requests (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE webhook_definitions (
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 128),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  -- SHA-256 of the secret.
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  enabled boolean NOT NULL DEFAULT true,
  conversation_id uuid REFERENCES conversations ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
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
  -- The decision about duplicates: two deliveries of one key can never both be kept.
  UNIQUE (webhook_definition_id, idempotency_key)
);

-- One delivery in one transaction: the event that is already kept for this key or this id, else a
-- new one with its conversation, message and run. No row means that the definition is unknown or
-- disabled. Of two at once the second waits for the first and then fails for a unique key; asked
-- again, it finds what the first has kept. `expected_ids` holds the ids that the new event, its
-- conversation, message and run will have.
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
  author text := 'webhook:' || definition_id;
BEGIN
  SELECT * INTO event FROM webhook_events e
    WHERE e.webhook_definition_id = definition_id AND e.idempotency_key = key;
  IF NOT FOUND THEN SELECT * INTO event FROM webhook_events e WHERE e.id = expected_ids[1]; END IF;
  IF FOUND THEN RETURN NEXT event; RETURN; END IF;

  SELECT * INTO definition FROM webhook_definitions d WHERE d.id = definition_id AND d.enabled;
  IF NOT FOUND THEN RETURN; END IF;

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
