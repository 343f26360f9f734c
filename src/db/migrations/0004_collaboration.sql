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
  parts jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(parts) = 'array'),
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
  values jsonb NOT NULL,
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (conversation_id, input_request_id)
    REFERENCES input_requests (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE webhook_definitions (
  id text PRIMARY KEY CHECK (char_length(id) BETWEEN 1 AND 128),
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  secret_hash bytea NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  conversation_id uuid REFERENCES conversations ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_definitions_project ON webhook_definitions (project_id);

CREATE TABLE webhook_events (
  id uuid PRIMARY KEY,
  webhook_definition_id text NOT NULL REFERENCES webhook_definitions ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- Null where the sender gave none: then every delivery is new.
  idempotency_key text CHECK (char_length(idempotency_key) BETWEEN 1 AND 255),
  fingerprint bytea NOT NULL,
  conversation_id uuid NOT NULL,
  message_id uuid NOT NULL,
  run_id uuid NOT NULL,
  latest_event_id bigint NOT NULL,
  status text NOT NULL DEFAULT 'accepted',
  invoked_by text NOT NULL DEFAULT 'webhook',
  manual_invoked_by_user_id uuid,
  error_code text,
  error_message text,
  payload jsonb,
  received_at timestamptz NOT NULL,
  completed_at timestamptz,
  -- The decision about duplicates: two deliveries of one key can never both be kept.
  UNIQUE (webhook_definition_id, idempotency_key)
);
