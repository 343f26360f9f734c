import { parseKey } from "../../auth/key-format.ts";
import { addressKey } from "../../auth/users.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { isUuid } from "../../shared/formats.ts";
import { namings } from "../../shared/reference.ts";
import { RecordError } from "../records/errors.ts";
import type { RecordOf } from "../records/schemas.ts";
import { otherProject } from "../records/target.ts";
import type { KnownRow } from "./lookup.ts";
import { type BatchPlan, resolveByKey } from "./plan.ts";
import { arrayLiteral, documentColumns } from "./statements.ts";

/** The id of a user who is referred to by id or email. */
export function userId({ lookups }: BatchPlan, reference: string, field: string): string {
  const user = isUuid(reference)
    ? lookups.users.byId(reference.toLowerCase())
    : lookups.users.byKey("", addressKey(reference));
  if (user === undefined)
    throw new RecordError(`${field}: there is no user "${abbreviate(reference)}"`);
  return user.id;
}

/** The stored or planned project that a reference names. */
function projectNamed({ lookups }: BatchPlan, reference: string): KnownRow | undefined {
  for (const naming of namings(reference)) {
    const row =
      "id" in naming ? lookups.projects.byId(naming.id) : lookups.projects.byKey("", naming.name);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** The id of a project that a record refers to. */
export function projectId(plan: BatchPlan, reference: string, field = "project"): string {
  const project = projectNamed(plan, reference);
  if (project === undefined) {
    throw new RecordError(`${field}: there is no project "${abbreviate(reference)}"`);
  }
  // The slug of the target may be the id of another project, which is the one that such a reference names.
  if (plan.target !== undefined && project.id !== plan.target.id) throw otherProject(field);
  if (!project.isNew) plan.projects.add(project.id);
  return project.id;
}

export function planUser(record: RecordOf<"user">, plan: BatchPlan): void {
  const { id, email } = record;
  const key = email === undefined ? undefined : addressKey(email);
  if (key === undefined && id === undefined) throw new RecordError("email: is required without id");
  const user =
    key === undefined
      ? userWithoutEmail(plan, id as string)
      : resolveByKey(plan.lookups.users, "user", { id, parent: "", key });
  plan.rows.putRow("users", user, {
    email: record.email,
    name: record.name,
    role: record.role,
    avatar_src: record.avatar_src,
  });
}

function userWithoutEmail({ lookups }: BatchPlan, id: string): KnownRow {
  const known = lookups.users.byId(id.toLowerCase());
  if (known !== undefined) return known;
  const row: KnownRow = { id: id.toLowerCase(), parent: "", key: null, isNew: true };
  lookups.users.plan(row);
  return row;
}

/** The public part and the hash of a key, from the key or from an export of it. */
function credentialOf(record: RecordOf<"api_key">): { keyPrefix: string; hash: string } {
  const { key, key_prefix: keyPrefix, key_hash: hash } = record;
  if (key === undefined) {
    if (keyPrefix !== undefined && hash !== undefined) return { keyPrefix, hash };
    throw new RecordError("key: is required, or key_prefix and key_hash");
  }
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new RecordError("key: must have the form tsr_<prefix>_<secret> with a valid checksum");
  }
  return { keyPrefix: parsed.keyPrefix, hash: Buffer.from(parsed.hash).toString("hex") };
}

/** The fingerprint of an embedder that is given by its name, or by its fingerprint. */
function fingerprintOf({ embedders }: BatchPlan, given: string | undefined): string | undefined {
  if (given === undefined || given.includes(":")) return given;
  const known = Object.hasOwn(embedders, given) ? embedders[given] : undefined;
  if (known !== undefined) return known;
  throw new RecordError(`embedder: there is no embedder "${abbreviate(given)}"`);
}

export function planProject(record: RecordOf<"project">, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  plan.changesProjects = true;
  // A project may have many members, so all users are looked up at once.
  const members = [...(record.members ?? []), { user: record.owner, role: "owner" }];
  lookups.users.require(
    ...members.map(({ user }) =>
      isUuid(user) ? { id: user.toLowerCase() } : { parent: "", key: addressKey(user) },
    ),
  );
  const roles = members.map(({ user, role }, i) => {
    const field = i === members.length - 1 ? "owner" : `members[${i}].user`;
    return { user: userId(plan, user, field), role };
  });
  const project = resolveByKey(lookups.projects, "project", {
    id: record.id,
    parent: "",
    key: record.slug,
  });
  const { projects, newProjects } = plan;
  (project.isNew ? newProjects : projects).add(project.id);
  const embedder = fingerprintOf(plan, record.embedder);
  if (project.isNew && embedder !== undefined)
    lookups.projects.plan({ ...project, extra: embedder });
  rows.putRow("projects", project, {
    embedder,
    slug: record.slug,
    name: record.name,
    description: record.description,
    features: record.features && arrayLiteral(record.features),
    ...documentColumns({ config: record.config }),
    is_claimed: record.is_claimed?.toString(),
    prompt_count: record.prompt_count?.toString(),
    provider: record.provider,
    layout: record.layout,
    published_at: record.published_at,
  });
  for (const { user, role } of roles) {
    const row = { project_id: project.id, user_id: user, role };
    rows.put("memberships", user + project.id, true, row);
  }
}

export function planApiKey(record: RecordOf<"api_key">, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const { keyPrefix, hash } = credentialOf(record);
  const user = userId(plan, record.user, "user");
  const project = record.project === undefined ? undefined : projectId(plan, record.project);
  const key = resolveByKey(lookups.apiKeys, "api_key", {
    id: record.id,
    parent: "",
    key: keyPrefix,
  });
  const owner = user + hash;
  if (key.isNew && key.extra === undefined) lookups.apiKeys.plan({ ...key, extra: owner });
  else if (key.extra !== owner) {
    throw new RecordError("key: the prefix is already used by another key or user");
  }
  rows.putRow("api_keys", key, {
    user_id: user,
    project_id: project,
    name: record.name,
    key_prefix: keyPrefix,
    key_hash: `\\x${hash}`,
    scopes: record.scopes && arrayLiteral(record.scopes),
    expires_at: record.expires_at,
  });
}
