import { PRODUCTION } from "../../support/api/imports.ts";
import type { AnyRecord, Change, Changes } from "./audit-change.ts";

const WEBHOOK = { record: "webhook_definition", id: "deploys", secret: "a secret" } as const;
const BRANCH = { record: "branch", name: "main" } as const;
const RELEASE = { record: "release", name: "v1", environment: "production" } as const;
const PAGE = {
  record: "file",
  path: "a.md",
  environments: ["production"],
  content: "# A",
} as const;

/** The ways to create a release of the working set. */
const RELEASED: Omit<Change, "leaves"> = {
  http: () => [
    {
      operation: "createRelease",
      method: "POST",
      path: "releases",
      json: { name: "v1", environment: "production" },
    },
  ],
  command: ({ project: { slug } }) => `releases create v1 --project ${slug} --no-wait`,
  records: () => [RELEASE],
};

/** The contents that an environment serves, by its release. */
const serving = (active_release: string | null, earlier_release: string | null) =>
  ({
    leaves: [
      [
        "environment.activated",
        { environment: "production", release: active_release, earlier_release },
      ],
    ],
    http: () => [
      {
        operation: "updateEnvironment",
        method: "PATCH",
        path: "environments/production",
        json: { active_release },
      },
    ],
    command: ({ project: { slug } }) =>
      `environments activate production ${active_release ?? "--working-set"} --project ${slug} --no-wait`,
    records: () => [{ ...PRODUCTION, active_release } as AnyRecord],
  }) satisfies Change;

/** Changes of what a project holds. */
export const CONTENT_CHANGES: Changes = {
  "an environment is created": {
    leaves: [["environment.created", { environment: "preview" }]],
    http: () => [
      {
        operation: "createEnvironment",
        method: "POST",
        path: "environments",
        json: { name: "preview", contents_of: "production" },
      },
    ],
    records: () => [{ record: "environment", name: "preview" } as AnyRecord],
  },
  "an environment is changed, whose variables are not in the log": {
    leaves: [
      [
        "environment.changed",
        { environment: "production", protected: true, environment_variables: "changed" },
      ],
    ],
    records: () => [
      { ...PRODUCTION, protected: true, environment_variables: [{ TOKEN: "s3cret" }] } as AnyRecord,
    ],
  },
  "an environment serves a release": { after: () => [RELEASE], ...serving("v1", null) },
  "an environment serves its working set again": {
    after: () => [RELEASE, { ...PRODUCTION, active_release: "v1" } as AnyRecord],
    ...serving(null, "v1"),
  },
  "an environment is deleted": {
    leaves: [["environment.deleted", { environment: "production" }]],
    http: () => [
      { operation: "deleteEnvironment", method: "DELETE", path: "environments/production" },
    ],
    statement: ({ project: { id } }, sql) => sql`DELETE FROM environments WHERE project_id = ${id}`,
  },
  "a release is created": {
    ...RELEASED,
    after: () => [PAGE],
    leaves: [["release.created", { release: "v1", environment: "production", files: 1 }]],
  },
  "an empty release is created": {
    ...RELEASED,
    leaves: [["release.created", { release: "v1", environment: "production", files: 0 }]],
  },
  "a release is created of files that name it": {
    leaves: [["release.created", { release: "v1", files: 1 }]],
    records: () => [{ ...PAGE, environments: [], releases: ["v1"] } as AnyRecord],
  },
  "a release is changed": {
    after: () => [RELEASE],
    leaves: [["release.changed", { release: "v1", build_status: "done" }]],
    records: () => [{ ...RELEASE, build_status: "done" }],
  },
  "a release is deleted": {
    after: () => [RELEASE],
    leaves: [["release.deleted", { release: "v1" }]],
    http: () => [{ operation: "deleteRelease", method: "DELETE", path: "releases/v1" }],
    statement: ({ project: { id } }, sql) => sql`DELETE FROM releases WHERE project_id = ${id}`,
  },
  "a webhook is created": {
    leaves: [["webhook.created", { webhook: "deploys", enabled: true }]],
    http: () => [
      { operation: "createWebhook", method: "POST", path: "webhooks", json: { id: "deploys" } },
    ],
    records: () => [WEBHOOK],
  },
  "a webhook is changed, whose secret is not in the log": {
    after: () => [WEBHOOK],
    leaves: [["webhook.changed", { webhook: "deploys", enabled: false, secret: "changed" }]],
    records: () => [{ ...WEBHOOK, enabled: false, secret: "another secret" }],
  },
  "a webhook is deleted": {
    after: () => [WEBHOOK],
    leaves: [["webhook.deleted", { webhook: "deploys" }]],
    http: () => [{ operation: "deleteWebhook", method: "DELETE", path: "webhooks/deploys" }],
    statement: ({ project: { id } }, sql) =>
      sql`DELETE FROM webhook_definitions WHERE project_id = ${id}`,
  },
  "a branch is created": {
    leaves: [["branch.created", { branch: "main" }]],
    records: () => [BRANCH],
  },
  "a branch is deleted": {
    after: () => [BRANCH],
    leaves: [["branch.deleted", { branch: "main" }]],
    statement: ({ project: { id } }, sql) => sql`DELETE FROM branches WHERE project_id = ${id}`,
  },
  "a file is written by a request": {
    leaves: [["file.written", { environment: "production", path: "a.md", version: "ID" }]],
    http: () => [
      {
        operation: "putFile",
        method: "PUT",
        path: "files/a.md?environment=production",
        body: "# A",
        headers: { "content-type": "text/markdown" },
      },
    ],
  },
  "files are imported": {
    leaves: [["import", { strict: false, lines: 1, changed: 1, unchanged: 0, refused: 0 }]],
    command: ({ project: { slug }, folder }) =>
      `import --markdown ${folder} --project ${slug} --no-wait`,
    records: () => [PAGE],
  },
  "a file is removed": {
    after: () => [PAGE],
    leaves: [["files.removed", { environment: "production", files: 1, paths: ["a.md"] }]],
    http: () => [
      {
        operation: "deleteFile",
        method: "DELETE",
        path: "files/a.md?environment=production",
      },
    ],
    command: ({ project: { slug } }) => `files remove a.md --project ${slug} --yes`,
    records: () => [
      { record: "file", path: "a.md", environments: ["production"], deleted: true } as AnyRecord,
    ],
  },
};
