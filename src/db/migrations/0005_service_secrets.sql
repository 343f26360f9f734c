-- Secrets that the service makes for itself and that all its processes share.

CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  secret bytea NOT NULL CHECK (octet_length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A random UUID carries 122 bits of the server's CSPRNG, so three of them fill the hash.
INSERT INTO service_secrets (name, secret) VALUES (
  'cursor',
  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
