import type { Caller } from "../../support/api/api.ts";
import { PRODUCTION } from "../../support/api/imports.ts";
import type { AnyRecord, Changes, Place, Request } from "./audit-change.ts";

const KEY = { key: "ID", key_prefix: "PREFIX", user: "OWNER" };
const EMBEDDER = "hashing:feature-hashing-1:768";
const INVITATION = { invited: "GUEST", role: "editor", invited_by: "OWNER" };

const project = ({ project: { slug }, ownerEmail: owner }: Place, more: object = {}) =>
  ({ record: "project", slug, name: "A project", owner, ...more }) as const;
const keyRecord = ({ key, ownerEmail: user, project: { slug } }: Place, more: object) =>
  ({ record: "api_key", user, key: key.key, project: slug, ...more }) as const;

const member = (method: string, user: string, json?: object, as?: Caller): Request => ({
  operation: method === "PUT" ? "putMember" : "deleteMember",
  method,
  path: `members/${user}`,
  ...(json && { json }),
  ...(as && { as }),
});
const invited = ({ guest }: Place, role = "editor") => member("PUT", guest.userId, { role });
const accepted = ({ guest }: Place) => member("PUT", guest.userId, { role: "editor" }, guest);

/** Changes of projects, their members and keys. */
export const ACCESS_CHANGES: Changes = {
  "a project is created": {
    isNew: true,
    leaves: [
      ["project.created", { slug: "SLUG", name: "SLUG", embedder: EMBEDDER }],
      ["member.added", { member: "OWNER", role: "owner" }],
      ["environment.created", { environment: "production" }],
    ],
    http: ({ project: { slug } }) => [
      {
        operation: "createProject",
        method: "POST",
        path: "/projects",
        json: { slug, name: slug, embedder: "hashing" },
      },
    ],
    command: ({ project: { slug }, ownerEmail, folder }) =>
      `import --markdown ${folder} --project ${slug} --owner ${ownerEmail} --no-wait`,
    onlyByCommand: true,
    records: (place) => [
      project(place, { name: place.project.slug, embedder: "hashing" }),
      PRODUCTION as AnyRecord,
    ],
  },
  "a project is changed": {
    leaves: [["project.changed", { name: "Another", description: "changed" }]],
    http: () => [
      {
        operation: "updateProject",
        method: "PATCH",
        path: "",
        json: { name: "Another", description: "x".repeat(1_001) },
      },
    ],
    records: (place) => [project(place, { name: "Another", description: "x".repeat(1_001) })],
  },
  "a project gets an embedder": {
    leaves: [["project.changed", { embedder: EMBEDDER }]],
    http: () => [
      { operation: "updateProject", method: "PATCH", path: "", json: { embedder: "hashing" } },
    ],
    records: (place) => [project(place, { embedder: "hashing" })],
  },
  "a project gets another embedder": {
    after: (place) => [project(place, { embedder: "other:x:768" })],
    leaves: [
      ["project.changed", { embedder: EMBEDDER, earlier_embedder: "other:x:768" }],
      ["embeddings.rebuilt", { embedder: EMBEDDER }],
    ],
    command: ({ project: { slug } }) => `embeddings rebuild --project ${slug} --embedder hashing`,
  },
  "a project's configuration is changed, which is not in the log": {
    leaves: [["project.changed", { config: "changed", features: ["x"] }]],
    records: (place) => [project(place, { config: { token: "s3cret" }, features: ["x"] })],
  },
  "a project gets a quota": {
    leaves: [["project.changed", { quota: { files: 9, bytes: "none", chunks: "default" } }]],
    command: ({ project: { slug } }) =>
      `projects quota ${slug} --files 9 --bytes none --chunks default`,
  },
  "a project is deleted": {
    leaves: [
      ["key.deleted", { ...KEY, name: "a key" }],
      ["member.removed", { member: "OWNER", role: "owner" }],
      ["project.deleted", { slug: "SLUG" }],
    ],
    after: () => [{ record: "branch", name: "main" } as AnyRecord],
    http: ({ project: { slug } }) => [
      { operation: "deleteProject", method: "DELETE", path: `?confirm=${slug}` },
    ],
    command: ({ project: { slug } }) => `projects delete ${slug} --yes`,
  },
  "a member is added": {
    leaves: [["member.added", { member: "GUEST", role: "editor" }]],
    command: ({ project: { slug }, guestEmail }) =>
      `members add ${guestEmail} --project ${slug} --role editor`,
    onlyByCommand: true,
    records: (place) => [project(place, { members: [{ user: place.guestEmail, role: "editor" }] })],
  },
  "a member is added by a key": {
    leaves: [
      ["key.created", { ...KEY, user: "GUEST", name: "new" }],
      ["member.added", { member: "GUEST", role: "member" }],
    ],
    command: ({ project: { slug }, guestEmail }) =>
      `keys create --user ${guestEmail} --name new --project ${slug}`,
  },
  "a user is invited": {
    leaves: [["invitation.created", INVITATION]],
    http: (place) => [invited(place)],
  },
  "an invitation gets another role": {
    leaves: [["invitation.changed", { ...INVITATION, role: "member", earlier_role: "editor" }]],
    http: (place) => [invited(place), invited(place, "member")],
  },
  "an invitation is accepted": {
    leaves: [
      ["invitation.ended", INVITATION],
      ["member.added", { member: "GUEST", role: "editor", invited_by: "OWNER" }],
    ],
    http: (place) => [invited(place), accepted(place)],
  },
  "an invitation is withdrawn": {
    leaves: [["invitation.ended", INVITATION]],
    http: (place) => [invited(place), member("DELETE", place.guest.userId)],
  },
  "a member gets another role": {
    withGuest: true,
    leaves: [["member.changed", { member: "GUEST", role: "member", earlier_role: "editor" }]],
    http: (place) => [invited(place, "member")],
    command: ({ project: { slug }, guestEmail }) =>
      `members add ${guestEmail} --project ${slug} --role member`,
    records: (place) => [project(place, { members: [{ user: place.guestEmail, role: "member" }] })],
  },
  "a member is removed": {
    withGuest: true,
    leaves: [["member.removed", { member: "GUEST", role: "editor" }]],
    http: ({ guest }) => [member("DELETE", guest.userId)],
    command: ({ project: { slug }, guestEmail }) =>
      `members remove ${guestEmail} --project ${slug} --yes`,
  },
  "a key is created": {
    leaves: [["key.created", { ...KEY, name: "new" }]],
    http: ({ project: { id } }) => [
      {
        operation: "createApiKey",
        method: "POST",
        path: "/api-keys",
        json: { name: "new", project_id: id },
      },
    ],
    command: ({ project: { slug }, ownerEmail }) =>
      `keys create --user ${ownerEmail} --name new --project ${slug}`,
    onlyByCommand: true,
    records: (place) => [
      {
        record: "api_key",
        user: place.ownerEmail,
        project: place.project.slug,
        name: "new",
        key_prefix: `tsr_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`,
        key_hash: "0".repeat(64),
      },
    ],
  },
  "a key is changed": {
    leaves: [
      ["key.changed", { ...KEY, name: "b", earlier_name: "a key", scopes: ["search.query"] }],
    ],
    onlyByCommand: true,
    records: (place) => [keyRecord(place, { name: "b", scopes: ["search.query"] })],
  },
  "a key is replaced": {
    leaves: [
      ["key.created", { ...KEY, name: "a key", replaces: "PREFIX" }],
      ["key.revoked", { ...KEY, name: "a key" }],
    ],
    command: ({ prefix }) => `keys rotate ${prefix} --grace 0`,
  },
  "a key is revoked": {
    leaves: [["key.revoked", { ...KEY, name: "a key" }]],
    http: ({ key: { id } }) => [
      { operation: "revokeApiKey", method: "DELETE", path: `/api-keys/${id}` },
    ],
    command: ({ prefix }) => `keys revoke ${prefix} --yes`,
  },
};
