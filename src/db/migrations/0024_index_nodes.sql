-- How far each running server has read the change log. A project of which a server has no row in index_state is
-- not in its memory, once it has read the project's last change: a search reads it from the database then.
CREATE TABLE index_nodes (
  id uuid PRIMARY KEY,
  seq bigint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);
