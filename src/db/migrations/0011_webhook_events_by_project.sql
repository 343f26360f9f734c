-- The events of a project are listed, newest first.
CREATE INDEX webhook_events_project ON webhook_events (project_id, received_at, id);
