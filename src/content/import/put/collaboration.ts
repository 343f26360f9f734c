import { RecordError } from "../../../documents/errors.ts";
import { isUuid } from "../../../domain/formats.ts";
import { derivedId } from "../../../domain/uuid.ts";
import type { RecordOf } from "../records/schemas.ts";
import { sortedJson } from "../records/sorted-json.ts";
import type { Batch } from "./batch.ts";
import { RowSet } from "./row-set.ts";

export async function putBranches(batch: Batch): Promise<void> {
  const { branches } = batch;
  await batch.put({ kind: "branch", rows: branches, table: "branches" }, (record, { line }) => {
    const { id, name } = record;
    const project_id = batch.projectId(record.project, line);
    return {
      id,
      parent: project_id,
      name: { key: name },
      fields: () => ({ ...record, project_id }),
    };
  });
  const checks = batch.of("status_check");
  const approvals = batch.of("branch_approval");
  await branches.load(
    [...checks, ...approvals].map(({ record }) => record.branch_id.toLowerCase()),
  );
  await batch.put(
    {
      kind: "branch_approval",
      rows: batch.known({ table: "branch_approvals", parent: "branch_id" }),
      table: "branch_approvals",
    },
    (record, { line }) => {
      const branch_id = batch.referred("branch", record.branch_id, line).id;
      const content = `${record.approved_by.toLowerCase()}\n${record.approved_at ?? ""}`;
      const fields = () => ({ ...record, branch_id });
      return { id: record.id, parent: branch_id, name: { content }, fields };
    },
  );
  const naming = { table: "status_checks", parent: "branch_id", key: "t.check_name" };
  await batch.put(
    { kind: "status_check", rows: batch.known(naming), table: "status_checks" },
    (record, { line }) => {
      const branch_id = batch.referred("branch", record.branch_id, line).id;
      const fields = () => ({ ...record, branch_id });
      return { id: record.id, parent: branch_id, name: { key: record.check_name }, fields };
    },
  );
}

/** The prefix of the creator of a conversation that the delivery to a webhook has made. */
const WEBHOOK = "webhook:";
const CONVERSATION_RULES = { greatest: ["message_count", "last_message_at"] };

export async function putConversations(batch: Batch): Promise<void> {
  const { conversations: rows } = batch;
  const writing = { kind: "conversation", rows, table: "conversations" } as const;
  await batch.put({ ...writing, rules: CONVERSATION_RULES }, (record, { line }) => {
    const { project_id: reference, created_by: creator } = record;
    const project = reference === undefined ? "" : batch.projectId(reference, line, "project_id");
    // An email address is replaced by the id of its user. Any other text is stored as it is.
    const byAddress = creator.includes("@") && !isUuid(creator) && !creator.startsWith(WEBHOOK);
    const createdBy = byAddress ? batch.userId(creator, "created_by", line) : creator;
    return {
      id: record.id,
      parent: project,
      name: { content: sortedJson({ ...record, project_id: undefined }) },
      fields: () => ({
        ...record,
        project_id: project === "" ? undefined : project,
        created_by: isUuid(createdBy) ? createdBy.toLowerCase() : createdBy,
      }),
    };
  });
  const inside = [
    ...batch.of("message"),
    ...batch.of("input_request"),
    ...batch.of("webhook_definition"),
  ];
  const ids = inside.flatMap(({ record: { conversation_id: id } }) => id?.toLowerCase() ?? []);
  if (ids.length === 0) return;
  const { sql, target } = batch.context;
  // A delivery locks its conversation before it adds a message. Nobody else's conversations are locked.
  await sql`
    SELECT FROM conversations WHERE id = ANY (${ids}::uuid[])
      AND (${target?.id ?? null}::uuid IS NULL OR project_id = ${target?.id ?? null})
    ORDER BY id FOR KEY SHARE`;
  await rows.load(ids);
}

export async function putMessages(batch: Batch): Promise<void> {
  const naming = { table: "messages", parent: "conversation_id", key: "t.seq" } as const;
  const rows = batch.known({ ...naming, keyType: "integer" });
  const conversations = new RowSet();
  const parents = batch.of("message").flatMap(({ record }) => record.parent_id ?? []);
  await rows.load(parents.map((id) => id.toLowerCase()));
  await batch.put({ kind: "message", rows, table: "messages" }, (record, { line }) => {
    const conversation = batch.referred("conversation", record.conversation_id, line);
    const parent_id = record.parent_id?.toLowerCase();
    const key = String(record.seq);
    return {
      id: record.id,
      parent: conversation.id,
      name: { key },
      check() {
        if (parent_id === undefined || rows.byId(parent_id)?.parent === conversation.id) return;
        throw new RecordError("parent_id: the conversation has no such message yet");
      },
      fields(message) {
        if (message.id === parent_id) {
          throw new RecordError("parent_id: must not be the message itself");
        }
        conversations.put(conversation.id, true, { id: conversation.id }, line);
        return { ...record, conversation_id: conversation.id, parent_id };
      },
    };
  });
  const on = { conflict: "ON CONFLICT DO NOTHING", key: "t.id::text" };
  await conversations.upsert(batch.context, "import_conversations", on);
}

// Importing a request again must not reopen it after it was answered.
const REQUEST_RULES = { updateWhen: "t.status = 'open'" };

export async function putInputRequests(batch: Batch): Promise<void> {
  const rows = batch.known({ table: "input_requests", parent: "conversation_id" });
  const responses = new RowSet();
  const writing = { kind: "input_request", rows, table: "input_requests" } as const;
  await batch.put({ ...writing, rules: REQUEST_RULES }, (record, { line }) => {
    const conversation_id = batch.referred("conversation", record.conversation_id, line).id;
    const { latest_response: response, ...rest } = record;
    if (response !== undefined && (record.status ?? "open") !== "submitted") {
      throw new RecordError('latest_response: requires the status "submitted"');
    }
    return {
      id: record.id,
      parent: conversation_id,
      name: { content: sortedJson(rest) },
      fields({ id }) {
        if (response !== undefined) {
          requireMatchingResponse(response, id, conversation_id);
          const given = {
            id: response.id ?? derivedId("input_response", id, ""),
            input_request_id: id,
            conversation_id,
            run_id: response.run_id ?? record.run_id,
            actor_type: response.actor_type,
            actor_id: response.actor_id,
            values: response.values,
            created_at: response.created_at ?? record.submitted_at,
          };
          responses.put(id, true, given, line);
        }
        return { ...rest, conversation_id };
      },
    };
  });
  const on = { conflict: "ON CONFLICT DO NOTHING", key: "t.input_request_id::text" };
  batch.count(await responses.upsert(batch.context, "input_responses", on));
}

/** A response may repeat the ids of its request and conversation, but not name others. */
function requireMatchingResponse(
  response: { input_request_id?: string; conversation_id?: string },
  requestId: string,
  conversationId: string,
): void {
  const matches = (given: string | undefined, id: string) => (given?.toLowerCase() ?? id) === id;
  if (!matches(response.input_request_id, requestId)) {
    throw new RecordError("latest_response.input_request_id: must be the id of this request");
  }
  if (!matches(response.conversation_id, conversationId)) {
    throw new RecordError(
      "latest_response.conversation_id: must be the conversation of the request",
    );
  }
}

export async function putWebhooks(batch: Batch): Promise<void> {
  const table = "webhook_definitions";
  const rows = batch.known({ table, parent: "project_id", key: "t.name", idType: "text" });
  await batch.put({ kind: "webhook_definition", rows, table }, (record, { line }) => {
    const project_id = batch.projectId(record.project, line);
    const conversation =
      record.conversation_id === undefined
        ? undefined
        : batch.referred("conversation", record.conversation_id, line);
    if (conversation !== undefined && conversation.parent !== project_id) {
      throw new RecordError("conversation_id: the conversation belongs to another project");
    }
    return {
      // Another project may have a webhook with the same name.
      derivedId: record.id,
      parent: project_id,
      name: { key: record.id },
      fields: () => ({
        ...record,
        name: record.id,
        project_id,
        secret_hash: secretHashOf(record),
        conversation_id: conversation?.id,
      }),
    };
  });
}

/** The hash of a webhook's secret, in base64. */
function secretHashOf({ secret, secret_hash: hash }: RecordOf<"webhook_definition">): string {
  if (secret !== undefined) return new Bun.CryptoHasher("sha256").update(secret).digest("base64");
  if (hash !== undefined) return Buffer.from(hash, "hex").toString("base64");
  throw new RecordError("secret: is required, or secret_hash");
}
