import { isUuid } from "../../shared/formats.ts";
import { derivedId } from "../../shared/uuid.ts";
import { RecordError } from "../records/errors.ts";
import type { RecordOf } from "../records/schemas.ts";
import { sortedJson } from "../records/sorted-json.ts";
import type { KnownRow } from "./lookup.ts";
import type { Lookups } from "./lookups.ts";
import { type BatchPlan, resolveById, resolveByKey, rowInTarget } from "./plan.ts";
import { projectId, userId } from "./plan-identity.ts";
import { documentColumns } from "./statements.ts";

export function planBranch(record: RecordOf<"branch">, plan: BatchPlan): void {
  const project = projectId(plan, record.project);
  const reference = { id: record.id, parent: project, key: record.name };
  const branch = resolveByKey(plan.lookups.branches, "branch", reference);
  plan.rows.putRow("branches", branch, {
    project_id: project,
    name: record.name,
  });
}

export function planBranchApproval(record: RecordOf<"branch_approval">, plan: BatchPlan): void {
  const branch = requireRow(plan, "branch", record.branch_id);
  const approval = resolveById(plan.lookups.approvals, "branch_approval", {
    id: record.id,
    parent: branch.id,
    content: `${record.approved_by.toLowerCase()}\n${record.approved_at ?? ""}`,
  });
  plan.rows.putRow("branch_approvals", approval, {
    ...record,
    branch_id: branch.id,
  });
}

export function planStatusCheck(record: RecordOf<"status_check">, plan: BatchPlan): void {
  const branch = requireRow(plan, "branch", record.branch_id);
  const check = resolveByKey(plan.lookups.statusChecks, "status_check", {
    id: record.id,
    parent: branch.id,
    key: record.check_name,
  });
  plan.rows.putRow("status_checks", check, {
    ...record,
    branch_id: branch.id,
  });
}

export function planConversation(record: RecordOf<"conversation">, plan: BatchPlan): void {
  const { project_id: reference, created_by: creator } = record;
  const project = reference === undefined ? "" : projectId(plan, reference, "project_id");
  // An email address is replaced by the id of its user. Any other text is stored as it is.
  const byAddress = creator.includes("@") && !isUuid(creator);
  const createdBy = byAddress ? userId(plan, creator, "created_by") : creator;
  const conversation = resolveById(plan.lookups.conversations, "conversation", {
    id: record.id,
    parent: project,
    content: sortedJson({ ...record, project_id: undefined }),
  });
  plan.rows.putRow("conversations", conversation, {
    ...record,
    project_id: project === "" ? undefined : project,
    created_by: isUuid(createdBy) ? createdBy.toLowerCase() : createdBy,
    message_count: record.message_count?.toString(),
    ...documentColumns({ metadata: record.metadata }),
  });
}

export function planMessage(record: RecordOf<"message">, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const conversation = requireRow(plan, "conversation", record.conversation_id);
  const parentId = record.parent_id?.toLowerCase();
  if (parentId !== undefined) lookups.messages.require({ id: parentId });
  const parent = parentId === undefined ? undefined : lookups.messages.byId(parentId);
  if (parentId !== undefined && parent?.parent !== conversation.id) {
    throw new RecordError("parent_id: the conversation has no such message yet");
  }
  const message = resolveByKey(lookups.messages, "message", {
    id: record.id,
    parent: conversation.id,
    key: String(record.seq),
  });
  if (message.id === parentId) throw new RecordError("parent_id: must not be the message itself");
  rows.putRow("messages", message, {
    ...record,
    conversation_id: conversation.id,
    parent_id: parentId,
    seq: String(record.seq),
    parts: record.parts && JSON.stringify(record.parts),
    ...documentColumns({ token_usage: record.token_usage, metadata: record.metadata }),
  });
  rows.put("import_conversations", conversation.id, true, { id: conversation.id });
}

export function planInputRequest(record: RecordOf<"input_request">, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const conversation = requireRow(plan, "conversation", record.conversation_id);
  const { latest_response: response, ...rest } = record;
  if (response !== undefined && (record.status ?? "open") !== "submitted") {
    throw new RecordError('latest_response: requires the status "submitted"');
  }
  const request = resolveById(lookups.inputRequests, "input_request", {
    id: record.id,
    parent: conversation.id,
    content: sortedJson(rest),
  });
  if (response !== undefined) requireMatchingResponse(response, request.id, conversation.id);
  rows.putRow("input_requests", request, {
    ...rest,
    conversation_id: conversation.id,
    ...documentColumns({
      fields: rest.fields,
      recommendations: rest.recommendations,
      metadata: rest.metadata,
    }),
  });
  if (response === undefined) return;
  rows.put("input_responses", request.id, true, {
    id: response.id ?? derivedId("input_response", request.id, ""),
    input_request_id: request.id,
    conversation_id: conversation.id,
    run_id: response.run_id ?? rest.run_id,
    actor_type: response.actor_type,
    actor_id: response.actor_id,
    values: JSON.stringify(response.values),
    created_at: response.created_at ?? rest.submitted_at,
  });
}

export function planWebhookDefinition(
  record: RecordOf<"webhook_definition">,
  plan: BatchPlan,
): void {
  const { lookups, rows } = plan;
  const project = projectId(plan, record.project);
  const conversation =
    record.conversation_id === undefined
      ? undefined
      : requireRow(plan, "conversation", record.conversation_id);
  if (conversation !== undefined && conversation.parent !== project) {
    throw new RecordError("conversation_id: the conversation belongs to another project");
  }
  const webhook = webhookOf(record.id, project, lookups);
  rows.putRow("webhook_definitions", webhook, {
    name: record.id,
    project_id: project,
    secret_hash: `\\x${secretHashOf(record)}`,
    enabled: record.enabled?.toString(),
    conversation_id: conversation?.id,
  });
}

/** The row of a webhook, whose record names it. Another project may have one with the same name. */
function webhookOf(name: string, project: string, { webhooks }: Lookups): KnownRow {
  webhooks.require({ parent: project, key: name }, { id: name });
  const known = webhooks.byKey(project, name);
  if (known !== undefined) return known;
  const isTaken = webhooks.byId(name) !== undefined;
  const id = isTaken ? webhooks.idAside("webhook_definition", project, name) : name;
  const row: KnownRow = { id, parent: project, key: name, isNew: true };
  webhooks.plan(row);
  return row;
}

function secretHashOf({ secret, secret_hash: hash }: RecordOf<"webhook_definition">): string {
  if (secret !== undefined) return new Bun.CryptoHasher("sha256").update(secret).digest("hex");
  if (hash !== undefined) return hash;
  throw new RecordError("secret: is required, or secret_hash");
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

/** The row that a record refers to by `branch_id` or `conversation_id`. */
function requireRow(plan: BatchPlan, kind: "branch" | "conversation", id: string): KnownRow {
  const { branches, conversations } = plan.lookups;
  const row = rowInTarget(plan, kind === "branch" ? branches : conversations, id);
  if (row === undefined) throw new RecordError(`${kind}_id: there is no such ${kind} yet`);
  return row;
}
