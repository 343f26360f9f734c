/** The actions of the audit log, each with its details. */
export const AUDIT_ACTIONS = {
  "project.created": "`slug`, `name`, `embedder`",
  "project.changed":
    "the fields with their new values, `earlier_embedder`, and `quota` with the limits that were set",
  "project.deleted": "`slug`",
  "member.added": "`member`, `role`, and `invited_by` if the member has accepted an invitation",
  "member.changed": "`member`, `role`, `earlier_role`",
  "member.removed": "`member`, `role`",
  "invitation.created": "`invited`, `role`, `invited_by`",
  "invitation.changed": "`invited`, `role`, `earlier_role`, `invited_by`",
  "invitation.ended": "`invited`, `role`, `invited_by`",
  "environment.created": "`environment`",
  "environment.changed": "`environment`, and the fields with their new values",
  "environment.activated":
    "`environment`, `release` and `earlier_release`; null stands for the working set",
  "environment.deleted": "`environment`",
  "release.created":
    "`release`, `files`, and `environment` if it holds the files of an environment",
  "release.changed": "`release`, and the fields with their new values",
  "release.deleted": "`release`",
  "webhook.created": "`webhook`, `enabled`",
  "webhook.changed": "`webhook`, and the fields with their new values",
  "webhook.deleted": "`webhook`",
  "branch.created": "`branch`",
  "branch.deleted": "`branch`",
  "key.created":
    "`key`, `key_prefix`, `name`, `user`, and `replaces`, the public part of the key that it replaces",
  "key.changed": "as of `key.created`, and the fields with their new values",
  "key.revoked": "`key`, `key_prefix`, `name`, `user`",
  "key.deleted": "`key`, `key_prefix`, `name`, `user`",
  "file.written": "`environment`, `path`, `version`",
  "files.removed": "`environment`, or `purged` for all of them, `files` and the first `paths`",
  "embeddings.rebuilt": "`embedder`",
  import: "`strict`, `lines`, `changed`, `unchanged` and `refused`, or `failed`",
  denied: "`operation`, `slug`, `detail`, `count`",
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;
