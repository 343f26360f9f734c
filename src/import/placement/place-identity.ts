import { parseKey } from "../../auth/key-format.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { isUuid } from "../../shared/formats.ts";
import { LineError } from "../records/line-error.ts";
import type { RecordOf } from "../records/records.ts";
import { canonicalJson } from "./ids.ts";
import { identify, type Placement } from "./placement.ts";
import { arrayLiteral } from "./rows.ts";

/** The id of a user given by id or email. */
export function userId({ directory }: Placement, reference: string, field: string): string {
  const user = isUuid(reference)
    ? directory.users.byId(reference.toLowerCase())
    : directory.users.byKey("", reference.toLowerCase());
  if (user === undefined)
    throw new LineError(`${field}: there is no user "${abbreviate(reference)}"`);
  return user.id;
}

/** The id of a project given by id or slug. */
export function projectId({ directory }: Placement, reference: string, field = "project"): string {
  const { projects } = directory;
  const byId = isUuid(reference) ? projects.byId(reference.toLowerCase()) : undefined;
  const project = byId ?? projects.byKey("", reference);
  if (project === undefined) {
    throw new LineError(`${field}: there is no project "${abbreviate(reference)}"`);
  }
  return project.id;
}

export function placeUser(record: RecordOf<"user">, placement: Placement): void {
  const key = record.email.toLowerCase();
  const user = identify(placement.directory.users, "user", { id: record.id, parent: "", key });
  placement.rows.put("users", user.id, user.fresh === true, {
    id: user.id,
    email: record.email,
    name: record.name,
    role: record.role,
    avatar_src: record.avatar_src,
  });
}

export function placeProject(record: RecordOf<"project">, placement: Placement): void {
  const { directory, rows } = placement;
  // All users are looked up at once: a project may have many members.
  const members = [...(record.members ?? []), { user: record.owner, role: "owner" }];
  directory.users.need(
    ...members.map(({ user }) =>
      isUuid(user) ? { id: user.toLowerCase() } : { parent: "", key: user.toLowerCase() },
    ),
  );
  const roles = members.map(({ user, role }, i) => {
    const field = i === members.length - 1 ? "owner" : `members[${i}].user`;
    return { user: userId(placement, user, field), role };
  });
  const project = identify(directory.projects, "project", {
    id: record.id,
    parent: "",
    key: record.slug,
  });
  rows.put("projects", project.id, project.fresh === true, {
    id: project.id,
    slug: record.slug,
    name: record.name,
    description: record.description,
    features: record.features && arrayLiteral(record.features),
    config: record.config && canonicalJson(record.config),
  });
  for (const { user, role } of roles) {
    const row = { project_id: project.id, user_id: user, role };
    rows.put("memberships", user + project.id, true, row);
  }
}

export function placeApiKey(record: RecordOf<"api_key">, placement: Placement): void {
  const { directory, rows } = placement;
  const parsed = parseKey(record.key);
  if (parsed === undefined) {
    throw new LineError(
      "key: is not an API key of the form tsr_<prefix>_<secret> with its checksum",
    );
  }
  const user = userId(placement, record.user, "user");
  const project = record.project === undefined ? undefined : projectId(placement, record.project);
  const hash = Buffer.from(parsed.hash).toString("hex");
  const key = identify(directory.apiKeys, "api_key", {
    id: record.id,
    parent: "",
    key: parsed.keyPrefix,
  });
  const owner = user + hash;
  if (key.fresh && key.extra === undefined) directory.apiKeys.place({ ...key, extra: owner });
  else if (key.extra !== owner) {
    throw new LineError("key: its prefix belongs to another key or user");
  }
  rows.put("api_keys", key.id, key.fresh === true, {
    id: key.id,
    user_id: user,
    project_id: project,
    name: record.name,
    key_prefix: parsed.keyPrefix,
    key_hash: `\\x${hash}`,
    scopes: record.scopes && arrayLiteral(record.scopes),
    expires_at: record.expires_at,
  });
}
