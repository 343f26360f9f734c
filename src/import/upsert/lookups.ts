import type { ImportTarget } from "../records/target.ts";
import { RowLookup } from "./lookup.ts";
import { VersionContents } from "./version-contents.ts";

export type Lookups = ReturnType<typeof createLookups>;

function membersOf(projectId: string): string {
  return `(SELECT u.* FROM users u JOIN memberships m ON m.user_id = u.id
    WHERE m.project_id = '${projectId}')`;
}

/** One lookup per table that records refer to. */
export function createLookups(target?: ImportTarget) {
  return {
    users: new RowLookup({
      // An import into one project can neither find nor name users of others.
      table: target === undefined ? "users" : membersOf(target.id),
      key: "t.email",
      match: 'lower(t.email COLLATE "C") = u.key',
    }),
    projects: new RowLookup({ table: "projects", key: "t.slug", extra: "t.embedder" }),
    apiKeys: new RowLookup({
      table: "api_keys",
      key: "t.key_prefix",
      extra: "t.user_id || encode(t.key_hash, 'hex')",
    }),
    environments: new RowLookup({ table: "environments", parent: "project_id", key: "t.name" }),
    releases: new RowLookup({
      table: "releases",
      parent: "project_id",
      key: "t.name",
      extra: "CASE WHEN t.frozen_at IS NULL THEN NULL ELSE 'frozen' END",
    }),
    files: new RowLookup({ table: "files", parent: "project_id", key: "t.path" }),
    versions: new RowLookup({ table: "file_versions", parent: "file_id", key: "t.version_key" }),
    contents: new VersionContents(),
    /** The contents of releases, stored and staged: the row's id is the version's, its key the file's. */
    releaseFiles: new RowLookup({
      // The contents of each release that is asked for are read once.
      table: `(SELECT scope_id AS release_id, file_id, file_version_id AS id FROM import_scopes WHERE is_release
        UNION ALL SELECT r.id, v.file_id, v.id FROM releases r
          CROSS JOIN LATERAL contents_versions(r.contents_id) c (id) JOIN file_versions v ON v.id = c.id
          WHERE r.id = ANY ($1::text[]::uuid[]) AND v.file_id = ANY ($2::text[]::uuid[]))`,
      parent: "release_id",
      key: "t.file_id",
      match: "t.file_id = u.key::uuid",
    }),
    branches: new RowLookup({ table: "branches", parent: "project_id", key: "t.name" }),
    approvals: new RowLookup({ table: "branch_approvals", parent: "branch_id" }),
    statusChecks: new RowLookup({
      table: "status_checks",
      parent: "branch_id",
      key: "t.check_name",
    }),
    conversations: new RowLookup({ table: "conversations", parent: "project_id" }),
    messages: new RowLookup({
      table: "messages",
      parent: "conversation_id",
      key: "t.seq",
      match: "t.seq = u.key::integer",
    }),
    inputRequests: new RowLookup({ table: "input_requests", parent: "conversation_id" }),
    webhooks: new RowLookup({
      ...{ table: "webhook_definitions", parent: "project_id", key: "t.name", idType: "text" },
    }),
  };
}
