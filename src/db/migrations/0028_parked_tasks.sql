-- Tasks of the index that have failed twice in a row, by project: how often that was and when the last time.
CREATE TABLE parked_tasks (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  task text NOT NULL,
  failures bigint NOT NULL DEFAULT 1,
  parked_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, task)
);
