-- Who stated a user's address. Users whom an operator or an import has named have no time.
ALTER TABLE users ADD COLUMN email_stated_at timestamptz;
ALTER TABLE users ADD COLUMN email_verified boolean NOT NULL DEFAULT false;
