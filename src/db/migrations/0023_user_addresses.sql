-- Addresses of users are compared by a rule of the service, in which A to Z count as a to z, instead of the
-- locale's: in a Turkish database ISTANBUL@example.com and istanbul@example.com were two users.

-- Of two users with the same address the later one keeps what it has, and shows its address as its name.
WITH ranked AS (
  SELECT id, email, row_number() OVER (PARTITION BY lower(email COLLATE "C") ORDER BY created_at, id) AS place
  FROM users WHERE email IS NOT NULL)
UPDATE users u SET email = NULL, name = CASE WHEN name = '' THEN r.email ELSE name END
FROM ranked r WHERE r.id = u.id AND r.place > 1;

CREATE UNIQUE INDEX users_address ON users (lower(email COLLATE "C")) WHERE email IS NOT NULL;
DROP INDEX users_email_key;
