import { isUuid } from "../../shared/formats.ts";
import { LineError } from "../records/line-error.ts";
import type { RecordOf } from "../records/records.ts";
import type { Known } from "./directory.ts";
import { canonicalJson, derivedId } from "./ids.ts";
import { projectId, userId } from "./place-identity.ts";
import { identify, identifyById, type Placement } from "./placement.ts";

const json = (value: unknown) => (value === undefined ? undefined : canonicalJson(value));

export function placeBranch(record: RecordOf<"branch">, placement: Placement): void {
  const project = projectId(placement, record.project);
  const wanted = { id: record.id, parent: project, key: record.name };
  const branch = identify(placement.directory.branches, "branch", wanted);
  placement.rows.put("branches", branch.id, branch.fresh === true, {
    id: branch.id,
    project_id: project,
    name: record.name,
  });
}

export function placeBranchApproval(
  record: RecordOf<"branch_approval">,
  placement: Placement,
): void {
  const branch = existing(placement.directory.branches.byId(record.branch_id.toLowerCase()), {
    field: "branch_id",
    what: "branch",
  });
  const approval = identifyById(placement.directory.approvals, "branch_approval", {
    id: record.id,
    parent: branch.id,
    content: `${record.approved_by.toLowerCase()}\n${record.approved_at ?? ""}`,
  });
  placement.rows.put("branch_approvals", approval.id, approval.fresh === true, {
    ...record,
    id: approval.id,
    branch_id: branch.id,
  });
}

export function placeStatusCheck(record: RecordOf<"status_check">, placement: Placement): void {
  const branch = existing(placement.directory.branches.byId(record.branch_id.toLowerCase()), {
    field: "branch_id",
    what: "branch",
  });
  const check = identify(placement.directory.statusChecks, "status_check", {
    id: record.id,
    parent: branch.id,
    key: record.check_name,
  });
  placement.rows.put("status_checks", check.id, check.fresh === true, {
    ...record,
    id: check.id,
    branch_id: branch.id,
  });
}

export function placeConversation(record: RecordOf<"conversation">, placement: Placement): void {
  const { project_id: reference, created_by: creator } = record;
  const project = reference === undefined ? "" : projectId(placement, reference, "project_id");
  // An address stands for the user who has it; anything else is kept as it is.
  const byAddress = creator.includes("@") && !isUuid(creator);
  const createdBy = byAddress ? userId(placement, creator, "created_by") : creator;
  const conversation = identifyById(placement.directory.conversations, "conversation", {
    id: record.id,
    parent: project,
    content: canonicalJson({ ...record, project_id: undefined }),
  });
  placement.rows.put("conversations", conversation.id, conversation.fresh === true, {
    ...record,
    id: conversation.id,
    project_id: project === "" ? undefined : project,
    created_by: isUuid(createdBy) ? createdBy.toLowerCase() : createdBy,
    message_count: record.message_count?.toString(),
    metadata: json(record.metadata),
  });
}

export function placeMessage(record: RecordOf<"message">, placement: Placement): void {
  const { directory, rows } = placement;
  const conversation = findConversation(record.conversation_id, placement);
  const parentId = record.parent_id?.toLowerCase();
  if (parentId !== undefined) directory.messages.need({ id: parentId });
  const parent = parentId === undefined ? undefined : directory.messages.byId(parentId);
  if (parentId !== undefined && parent?.parent !== conversation.id) {
    throw new LineError("parent_id: the conversation has no such message yet");
  }
  const message = identify(directory.messages, "message", {
    id: record.id,
    parent: conversation.id,
    key: String(record.seq),
  });
  if (message.id === parentId) throw new LineError("parent_id: must not be the message itself");
  rows.put("messages", message.id, message.fresh === true, {
    ...record,
    id: message.id,
    conversation_id: conversation.id,
    parent_id: parentId,
    seq: String(record.seq),
    parts: record.parts && JSON.stringify(record.parts),
    token_usage: json(record.token_usage),
    metadata: json(record.metadata),
  });
  rows.put("import_conversations", conversation.id, true, { id: conversation.id });
}

export function placeInputRequest(record: RecordOf<"input_request">, placement: Placement): void {
  const { directory, rows } = placement;
  const conversation = findConversation(record.conversation_id, placement);
  const { latest_response: response, ...rest } = record;
  if (response !== undefined && (record.status ?? "open") !== "submitted") {
    throw new LineError('latest_response: only a request of status "submitted" has one');
  }
  const request = identifyById(directory.inputRequests, "input_request", {
    id: record.id,
    parent: conversation.id,
    content: canonicalJson(rest),
  });
  if (response !== undefined) refuseForeignResponse(response, request.id, conversation.id);
  rows.put("input_requests", request.id, request.fresh === true, {
    ...rest,
    id: request.id,
    conversation_id: conversation.id,
    fields: json(rest.fields),
    recommendations: json(rest.recommendations),
    metadata: json(rest.metadata),
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

export function placeWebhookDefinition(
  record: RecordOf<"webhook_definition">,
  placement: Placement,
): void {
  const { directory, rows } = placement;
  const project = projectId(placement, record.project);
  const conversation =
    record.conversation_id === undefined
      ? undefined
      : findConversation(record.conversation_id, placement);
  if (conversation !== undefined && conversation.parent !== project) {
    throw new LineError("conversation_id: the conversation belongs to another project");
  }
  const known = directory.webhooks.byId(record.id);
  if (known !== undefined && known.parent !== project) {
    throw new LineError("id: belongs to a webhook definition of another project");
  }
  if (known === undefined) {
    directory.webhooks.place({ id: record.id, parent: project, key: null, fresh: true });
  }
  rows.put("webhook_definitions", record.id, known === undefined || known.fresh === true, {
    id: record.id,
    project_id: project,
    secret_hash: `\\x${new Bun.CryptoHasher("sha256").update(record.secret).digest("hex")}`,
    enabled: record.enabled?.toString(),
    conversation_id: conversation?.id,
  });
}

function findConversation(id: string, { directory }: Placement): Known {
  return existing(directory.conversations.byId(id.toLowerCase()), {
    field: "conversation_id",
    what: "conversation",
  });
}

/** A response may repeat what it belongs to, but not contradict it. */
function refuseForeignResponse(
  response: { input_request_id?: string; conversation_id?: string },
  requestId: string,
  conversationId: string,
): void {
  const agree = (given: string | undefined, id: string) => (given?.toLowerCase() ?? id) === id;
  if (!agree(response.input_request_id, requestId)) {
    throw new LineError("latest_response.input_request_id: is not the id of this request");
  }
  if (!agree(response.conversation_id, conversationId)) {
    throw new LineError("latest_response.conversation_id: is not the request's conversation");
  }
}

function existing(row: Known | undefined, name: { field: string; what: string }): Known {
  if (row === undefined) throw new LineError(`${name.field}: there is no such ${name.what} yet`);
  return row;
}
