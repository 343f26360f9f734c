import { parseKey } from "../../../auth/key-format.ts";
import { addressKey } from "../../../auth/users.ts";
import { RecordError } from "../../../documents/errors.ts";
import { abbreviate } from "../../../domain/abbreviate.ts";
import type { RecordOf } from "../records/schemas.ts";
import type { Batch, Fingerprints } from "./batch.ts";
import { RowSet } from "./row-set.ts";

export async function putUsers(batch: Batch): Promise<void> {
  const writing = { kind: "user", rows: batch.users, table: "users" } as const;
  await batch.put(writing, (record) => {
    const { id, email } = record;
    if (email === undefined && id === undefined) {
      throw new RecordError("email: is required without id");
    }
    const name = email === undefined ? { content: "" } : { key: addressKey(email) };
    return { id, name, fields: () => record };
  });
}

/** The fingerprint of an embedder that is given by its name, or by its fingerprint. */
function fingerprintOf(embedders: Fingerprints, given: string | undefined): string | undefined {
  if (given === undefined || given.includes(":")) return given;
  const known = Object.hasOwn(embedders, given) ? embedders[given] : undefined;
  if (known !== undefined) return known;
  throw new RecordError(`embedder: there is no embedder "${abbreviate(given)}"`);
}

export async function putProjects(batch: Batch): Promise<void> {
  const { projects, context } = batch;
  const members = new RowSet();
  const rules = { isTimed: true };
  await batch.put(
    { kind: "project", rows: projects, table: "projects", rules },
    (record, { line }) => {
      const roles = (record.members ?? []).map(({ user, role }, i) => ({
        role,
        user_id: batch.userId(user, `members[${i}].user`, line),
      }));
      roles.push({ role: "owner", user_id: batch.userId(record.owner, "owner", line) });
      const embedder = fingerprintOf(context.embedders, record.embedder);
      return {
        id: record.id,
        name: { key: record.slug },
        extra: embedder,
        fields(project) {
          batch.written.add(project.id);
          for (const { user_id, role } of roles) {
            members.put(
              user_id + project.id,
              true,
              { user_id, project_id: project.id, role },
              line,
            );
          }
          return { ...record, embedder };
        },
      };
    },
  );
  const conflict = `ON CONFLICT (user_id, project_id) DO UPDATE SET role = excluded.role
    WHERE t.role <> excluded.role`;
  const on = { conflict, key: "concat(t.user_id, t.project_id)" };
  const changed = await members.upsert(context, "memberships", on);
  for (const { values } of changed) context.charges.addOwner(values["project_id"] as string);
  batch.count(changed);
}

const hexToBase64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");

/** The public part and the hash of a key, from the key or from an export of it. */
function credentialOf(record: RecordOf<"api_key">): { keyPrefix: string; hash: string } {
  const { key, key_prefix: keyPrefix, key_hash: hash } = record;
  if (key === undefined) {
    if (keyPrefix !== undefined && hash !== undefined)
      return { keyPrefix, hash: hexToBase64(hash) };
    throw new RecordError("key: is required, or key_prefix and key_hash");
  }
  const parsed = parseKey(key);
  if (parsed === undefined) {
    throw new RecordError("key: must have the form tsr_<prefix>_<secret> with a valid checksum");
  }
  return { keyPrefix: parsed.keyPrefix, hash: Buffer.from(parsed.hash).toString("base64") };
}

export async function putApiKeys(batch: Batch): Promise<void> {
  const rows = batch.known({
    table: "api_keys",
    key: "t.key_prefix",
    extra: "t.user_id || encode(t.key_hash, 'base64')",
  });
  const rules = { isTimed: true };
  await batch.put({ kind: "api_key", rows, table: "api_keys", rules }, (record, { line }) => {
    const { keyPrefix, hash } = credentialOf(record);
    const user_id = batch.userId(record.user, "user", line);
    const project_id =
      record.project === undefined ? undefined : batch.projectId(record.project, line);
    const owner = user_id + hash;
    return {
      id: record.id,
      name: { key: keyPrefix },
      extra: owner,
      fields({ extra = owner }) {
        if (extra !== owner) {
          throw new RecordError("key: the prefix is already used by another key or user");
        }
        return { ...record, user_id, project_id, key_prefix: keyPrefix, key_hash: hash };
      },
    };
  });
}
