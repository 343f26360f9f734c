-- What is known of accounts at the payment provider. An account is a user; it has no foreign key,
-- because users who come with a token are stored only when something else needs their row.

CREATE TABLE billing_customers (
  account_id uuid PRIMARY KEY,
  customer_id text NOT NULL CHECK (customer_id <> ''),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- One row an account and kind of upgrade: first somebody's attempt to open a session, then the
-- session. A row goes when its session is over or the provider has refused it.
CREATE TABLE billing_sessions (
  account_id uuid NOT NULL,
  -- SHA-256 of everything that the provider is asked for.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  -- Part of the provider's idempotency key: whoever continues the attempt gets the same session.
  attempt uuid NOT NULL,
  -- Until then others wait for whoever makes the attempt.
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
