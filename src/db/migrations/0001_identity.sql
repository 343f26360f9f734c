-- Users, their credentials, and the projects they are members of.

CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text,
  name text NOT NULL DEFAULT '',
  role text NOT NULL DEFAULT 'member',
  avatar_src text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now()
);
-- Users who come with a token may have no address; those who have one have it alone.
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE email IS NOT NULL;

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$'),
  name text NOT NULL CHECK (name <> ''),
  description text,
  is_claimed boolean NOT NULL DEFAULT true,
  features text[] NOT NULL DEFAULT '{}',
  config jsonb NOT NULL DEFAULT '{}',
  provider text,
  layout text,
  prompt_count integer NOT NULL DEFAULT 0,
  published_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
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
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_user ON api_keys (user_id);
CREATE INDEX api_keys_project ON api_keys (project_id) WHERE project_id IS NOT NULL;
