-- Changes of contents that single requests make are audited, too.
ALTER TABLE audit_log DROP CONSTRAINT audit_log_action_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_action_check CHECK (action IN ('import', 'denied',
  'key.created', 'key.revoked', 'key.deleted', 'member.added', 'member.changed', 'member.removed',
  'project.changed', 'project.deleted', 'file.written', 'files.removed', 'release.created',
  'environment.activated')) NOT VALID;
