-- Chunks at which their embedder fails although it embeds others. Each is tried again when it is due, without
-- holding up the other chunks of its file.
CREATE TABLE embedding_failures (
  chunk_id uuid PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- What is wrong, without anything that the embedder has answered.
  reason text NOT NULL,
  attempts integer NOT NULL,
  due timestamptz NOT NULL
);
CREATE INDEX embedding_failures_project ON embedding_failures (project_id);
