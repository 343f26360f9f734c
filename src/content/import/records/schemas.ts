import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import {
  API_KEY_NAME_MAX_CHARS,
  API_KEY_PREFIX_MAX_CHARS,
  API_KEY_PREFIX_MIN_CHARS,
  API_KEY_SCOPE_MAX_CHARS,
  API_KEY_SCOPES_MAX,
  API_KEY_TAG,
  CREDENTIAL_MAX_CHARS,
  IMPORT_EMAIL_MAX_CHARS,
  IMPORT_INTEGER_MAX,
  IMPORT_NAME_MAX_CHARS,
  WEBHOOK_ID_MAX_CHARS,
} from "../../../domain/limits.ts";
import { NAME_FAULT, NAME_PATTERN } from "../../../domain/paths.ts";

const IMPORT_TEXT_MAX_CHARS = 8_192;
const IMPORT_MESSAGE_NUMBER_MAX = 1_000_000_000;

// One schema per record kind. It validates the records and gives them their TypeScript types.
// docs/import-format.md describes the same fields.

const Id = Type.String({ format: "uuid" });
const Name = Type.String({ minLength: 1, maxLength: IMPORT_NAME_MAX_CHARS });
/** The name of an environment or a release. */
const ScopeName = Type.String({
  minLength: 1,
  maxLength: IMPORT_NAME_MAX_CHARS,
  pattern: NAME_PATTERN,
  errorMessage: `${NAME_FAULT}, with 1 to ${IMPORT_NAME_MAX_CHARS} characters`,
});
const Email = Type.String({
  minLength: 3,
  maxLength: IMPORT_EMAIL_MAX_CHARS,
  pattern: "^[^\\s@]+@[^\\s@]+$",
  errorMessage: "must be an email address",
});
const Slug = Type.String({
  maxLength: IMPORT_NAME_MAX_CHARS,
  pattern: "^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
  errorMessage: `must match ^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$, with at most ${IMPORT_NAME_MAX_CHARS} characters`,
});
/** The slug or id of a project, the email or id of a user. */
const Reference = Type.String({ minLength: 1, maxLength: IMPORT_EMAIL_MAX_CHARS });
const Moment = Type.String({ format: "date-time" });
const Text = Type.String();
const ShortText = Type.String({ maxLength: IMPORT_TEXT_MAX_CHARS });
const Integer = Type.Integer({ minimum: 0, maximum: IMPORT_INTEGER_MAX });
/** The number of a message. Deliveries count on from the last one of a conversation. */
const MessageNumber = Type.Integer({ minimum: 0, maximum: IMPORT_MESSAGE_NUMBER_MAX });
const Json = Type.Record(Type.String(), Type.Unknown());
/** JSON that a caller has sent, which is stored as the text that it was. */
const KeptAsSent = Type.Record(Type.String(), Type.Unknown(), { keptAsSent: true });
const optional = Type.Optional;
const KEY_PREFIX = `^${API_KEY_TAG}_[0-9A-Za-z]{${API_KEY_PREFIX_MIN_CHARS},${API_KEY_PREFIX_MAX_CHARS}}$`;
const Sha256 = Type.String({
  pattern: "^[0-9a-f]{64}$",
  errorMessage: "must be a SHA-256 hash in hexadecimal digits",
});

function record<K extends string, P extends TProperties>(kind: K, properties: P) {
  return Type.Object(
    { record: Type.Literal(kind), id: optional(Id), ...properties },
    { additionalProperties: false },
  );
}

const UserRecord = record("user", {
  /** Required without an id: users who sign in with a token may have no address. */
  email: optional(Email),
  name: ShortText,
  role: optional(Name),
  avatar_src: optional(ShortText),
});

const ApiKeyRecord = record("api_key", {
  user: Reference,
  name: Type.String({ minLength: 1, maxLength: API_KEY_NAME_MAX_CHARS }),
  key: optional(Type.String({ maxLength: CREDENTIAL_MAX_CHARS })),
  /** Instead of `key`, as an export has them. */
  key_prefix: optional(Type.String({ pattern: KEY_PREFIX })),
  key_hash: optional(Sha256),
  project: optional(Reference),
  scopes: optional(
    Type.Array(Type.String({ minLength: 1, maxLength: API_KEY_SCOPE_MAX_CHARS }), {
      maxItems: API_KEY_SCOPES_MAX,
    }),
  ),
  expires_at: optional(Moment),
});

const ProjectRecord = record("project", {
  slug: Slug,
  name: Type.String({ minLength: 1, maxLength: IMPORT_TEXT_MAX_CHARS }),
  description: optional(Text),
  features: optional(Type.Array(ShortText)),
  config: optional(Json),
  is_claimed: optional(Type.Boolean()),
  prompt_count: optional(Integer),
  provider: optional(ShortText),
  layout: optional(ShortText),
  /** The name of an embedder, or its fingerprint as an export has it. */
  embedder: optional(ShortText),
  published_at: optional(Moment),
  owner: Reference,
  members: optional(
    Type.Array(Type.Object({ user: Reference, role: Name }, { additionalProperties: false })),
  ),
});

const EnvironmentRecord = record("environment", {
  project: Reference,
  name: ScopeName,
  protected: optional(Type.Boolean()),
  domains: optional(Type.Array(ShortText)),
  environment_variables: optional(Type.Array(Type.Unknown())),
  server_hostname: optional(ShortText),
  /** Null ends the use of a release. */
  active_release: optional(Type.Union([Name, Type.Null()])),
});

const Chunk = Type.Object(
  {
    index: optional(Integer),
    content: Text,
    start_offset: optional(Integer),
    end_offset: optional(Integer),
    token_count: optional(Integer),
    metadata: optional(Json),
    // Checked by embedding.ts, which names the index of an invalid element.
    embedding: optional(Type.Unknown({ isTyped: true })),
  },
  { additionalProperties: false },
);
export type ChunkRecord = Static<typeof Chunk>;

const FileRecord = record("file", {
  project: Reference,
  path: Type.String({ minLength: 1 }),
  environments: optional(Type.Array(Name)),
  releases: optional(Type.Array(Name)),
  content: optional(Text),
  version_key: optional(Name),
  /** The id of this version, as an export has it. */
  version_id: optional(Id),
  chunks: optional(Type.Array(Chunk)),
  /** The embedder of the chunks' embeddings: its name, or its fingerprint as an export has it. */
  embedder: optional(ShortText),
  /** Takes the file out of the environments. */
  deleted: optional(Type.Boolean()),
});

const ReleaseRecord = record("release", {
  project: Reference,
  name: ScopeName,
  environment: optional(Name),
  export_status: optional(Name),
  build_status: optional(Name),
  deploy_status: optional(Name),
});

const BranchRecord = record("branch", { project: Reference, name: Name });

const BranchApprovalRecord = record("branch_approval", {
  branch_id: Id,
  approved_by: Id,
  approved_at: optional(Moment),
  comment: optional(Text),
  dismissed_at: optional(Moment),
  dismissed_by: optional(Id),
  dismissed_reason: optional(Text),
});

const StatusCheckRecord = record("status_check", {
  branch_id: Id,
  check_name: Name,
  status: Type.Union([Type.Literal("pending"), Type.Literal("success"), Type.Literal("failure")]),
  description: optional(Text),
  external_url: optional(ShortText),
  created_at: optional(Moment),
  updated_at: optional(Moment),
});

const ConversationRecord = record("conversation", {
  project_id: optional(Reference),
  type: optional(Name),
  status: optional(Name),
  message_count: optional(MessageNumber),
  created_by: Reference,
  created_at: optional(Moment),
  updated_at: optional(Moment),
  title: optional(Text),
  summary: optional(Text),
  current_node: optional(ShortText),
  last_message_at: optional(Moment),
  metadata: optional(Json),
  agent_id: optional(ShortText),
  runtime_target_kind: optional(ShortText),
  runtime_target_environment_id: optional(ShortText),
  runtime_target_branch_id: optional(ShortText),
  archived_at: optional(Moment),
});

const MessageRecord = record("message", {
  conversation_id: Id,
  seq: MessageNumber,
  role: Name,
  parts: optional(Type.Array(KeptAsSent)),
  status: optional(Name),
  created_at: optional(Moment),
  parent_id: optional(Id),
  created_by: optional(ShortText),
  model: optional(ShortText),
  token_usage: optional(Json),
  finish_reason: optional(ShortText),
  cost_credits: optional(ShortText),
  edited_at: optional(Moment),
  idempotency_key: optional(ShortText),
  metadata: optional(Json),
  updated_at: optional(Moment),
});

const InputResponse = Type.Object(
  {
    id: optional(Id),
    input_request_id: optional(Id),
    conversation_id: optional(Id),
    run_id: optional(ShortText),
    actor_type: optional(Name),
    actor_id: ShortText,
    values: KeptAsSent,
    created_at: optional(Moment),
  },
  { additionalProperties: false },
);

const InputRequestRecord = record("input_request", {
  conversation_id: Id,
  run_id: optional(ShortText),
  tool_call_id: optional(ShortText),
  kind: optional(Name),
  status: optional(
    Type.Union([
      Type.Literal("open"),
      Type.Literal("submitted"),
      Type.Literal("cancelled"),
      Type.Literal("expired"),
    ]),
  ),
  requested_responder_type: optional(Name),
  title: optional(Text),
  description: optional(Text),
  fields: optional(Type.Array(Json)),
  recommendations: optional(Json),
  metadata: optional(Json),
  created_at: optional(Moment),
  expires_at: optional(Moment),
  submitted_at: optional(Moment),
  cancelled_at: optional(Moment),
  expired_at: optional(Moment),
  latest_response: optional(InputResponse),
});

const WebhookDefinitionRecord = Type.Object(
  {
    record: Type.Literal("webhook_definition"),
    id: Type.String({ minLength: 1, maxLength: WEBHOOK_ID_MAX_CHARS }),
    project: Reference,
    secret: optional(Type.String({ minLength: 1, maxLength: IMPORT_TEXT_MAX_CHARS })),
    /** Instead of `secret`, as an export has it. */
    secret_hash: optional(Sha256),
    enabled: optional(Type.Boolean()),
    conversation_id: optional(Id),
  },
  { additionalProperties: false },
);

/** Record kind to schema. */
export const RECORD_SCHEMAS = {
  user: UserRecord,
  api_key: ApiKeyRecord,
  project: ProjectRecord,
  environment: EnvironmentRecord,
  file: FileRecord,
  release: ReleaseRecord,
  branch: BranchRecord,
  branch_approval: BranchApprovalRecord,
  status_check: StatusCheckRecord,
  conversation: ConversationRecord,
  message: MessageRecord,
  input_request: InputRequestRecord,
  webhook_definition: WebhookDefinitionRecord,
} as const satisfies Record<string, TObject>;

export type RecordKind = keyof typeof RECORD_SCHEMAS;
export type RecordOf<K extends RecordKind> = Static<(typeof RECORD_SCHEMAS)[K]>;
