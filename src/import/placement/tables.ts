/** How the importer writes one column. All values travel as text and are cast by PostgreSQL. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** SQL for a new row whose record leaves the field out; NULL when absent. */
  readonly fallback?: string;
  /** SQL of the text `u.<name>` as the column's type, when a cast alone does not do it. */
  readonly read?: string;
  /** On an update the larger of both stays, for counters and moments that only move forward. */
  readonly grows?: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns that tell a row apart, the first ones of `columns`. */
  readonly keyColumns: number;
  /**
   * known: whether a row exists was looked up; it is inserted or updated. blind: it is inserted,
   * or updated where it exists. once: it is inserted, or left alone where it exists.
   */
  readonly mode: "known" | "blind" | "once";
  /** The session's own, so that writing it changes nothing that anybody sees. */
  readonly staging?: boolean;
  /** SQL condition on `t` under which an existing row may change. */
  readonly updateWhen?: string;
  /** SQL assignments besides the given columns when an existing row changes. */
  readonly onChange?: string;
}

function columns(definition: string): Column[] {
  return definition
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", type = "", ...fallback] = line.trim().split(/\s+/);
      return { name, type, ...(fallback.length > 0 ? { fallback: fallback.join(" ") } : {}) };
    });
}

function table(
  name: string,
  definition: string,
  options: Partial<Omit<Table, "name" | "columns">> = {},
): Table {
  return { name, columns: columns(definition), keyColumns: 1, mode: "known", ...options };
}

/** Every table that an import writes, in the order in which rows refer to one another. */
export const TABLES = [
  table(
    "users",
    `id uuid
     email text
     name text ''
     role text 'member'
     avatar_src text ''`,
  ),
  table(
    "projects",
    `id uuid
     slug text
     name text
     description text
     features text[] '{}'
     config jsonb '{}'`,
    { onChange: "updated_at = now()" },
  ),
  table(
    "memberships",
    `user_id uuid
     project_id uuid
     role text`,
    { mode: "blind", keyColumns: 2 },
  ),
  table(
    "api_keys",
    `id uuid
     user_id uuid
     project_id uuid
     name text
     key_prefix text
     key_hash bytea
     scopes text[] '{}'
     expires_at timestamptz`,
    { onChange: "updated_at = now()" },
  ),
  table(
    "releases",
    `id uuid
     project_id uuid
     name text
     export_status text 'pending'
     build_status text 'pending'
     deploy_status text 'pending'`,
  ),
  table(
    "environments",
    `id uuid
     project_id uuid
     name text
     protected boolean false
     domains text[] '{}'
     environment_variables jsonb '[]'
     server_hostname text`,
  ),
  table(
    "files",
    `id uuid
     project_id uuid
     path text`,
  ),
  table(
    "file_versions",
    `id uuid
     project_id uuid
     file_id uuid
     version_key text
     content text
     chunk_count integer`,
  ),
  {
    ...table("chunks", "id uuid"),
    columns: [
      ...columns(
        `id uuid
         project_id uuid
         file_id uuid
         file_version_id uuid
         file_path text
         index integer
         content text
         start_offset integer
         end_offset integer
         token_count integer
         metadata jsonb
         dimension integer`,
      ),
      { name: "embedding", type: "bytea", read: "decode(u.embedding, 'base64')" },
    ],
  },
  table(
    "import_scopes",
    `scope_id uuid
     file_id uuid
     project_id uuid
     file_version_id uuid
     is_release boolean`,
    { mode: "blind", keyColumns: 2, staging: true },
  ),
  table(
    "branches",
    `id uuid
     project_id uuid
     name text`,
  ),
  table(
    "branch_approvals",
    `id uuid
     branch_id uuid
     approved_by uuid
     approved_at timestamptz now()
     comment text
     dismissed_at timestamptz
     dismissed_by uuid
     dismissed_reason text`,
  ),
  table(
    "status_checks",
    `id uuid
     branch_id uuid
     check_name text
     status text
     description text
     external_url text
     created_at timestamptz now()
     updated_at timestamptz now()`,
  ),
  {
    ...table("conversations", "id uuid"),
    columns: [
      ...columns(
        `id uuid
         project_id uuid
         type text 'chat'
         status text 'active'
         title text
         summary text
         current_node text
         metadata jsonb
         agent_id text
         runtime_target_kind text
         runtime_target_environment_id text
         runtime_target_branch_id text
         created_by text
         created_at timestamptz now()
         updated_at timestamptz now()
         archived_at timestamptz`,
      ),
      { name: "message_count", type: "integer", fallback: "0", grows: true },
      { name: "last_message_at", type: "timestamptz", grows: true },
    ],
  },
  table(
    "messages",
    `id uuid
     conversation_id uuid
     parent_id uuid
     seq integer
     role text
     parts json '[]'
     status text 'completed'
     created_by text
     model text
     token_usage jsonb
     finish_reason text
     cost_credits text
     idempotency_key text
     metadata jsonb
     created_at timestamptz now()
     updated_at timestamptz
     edited_at timestamptz`,
  ),
  table("import_conversations", "id uuid", { mode: "once", staging: true }),
  table(
    "input_requests",
    `id uuid
     conversation_id uuid
     run_id text
     tool_call_id text
     kind text 'form'
     status text 'open'
     requested_responder_type text 'human'
     title text
     description text
     fields jsonb '[]'
     recommendations jsonb
     metadata jsonb
     created_at timestamptz now()
     expires_at timestamptz
     submitted_at timestamptz
     cancelled_at timestamptz
     expired_at timestamptz`,
    // An answer given since the first import must not be reopened by the second.
    { updateWhen: "t.status = 'open'" },
  ),
  table(
    "input_responses",
    `id uuid
     input_request_id uuid
     conversation_id uuid
     run_id text
     actor_type text 'human'
     actor_id text
     values json
     created_at timestamptz now()`,
    { mode: "once" },
  ),
  table(
    "webhook_definitions",
    `id text
     project_id uuid
     secret_hash bytea
     enabled boolean true
     conversation_id uuid`,
  ),
] as const satisfies readonly Table[];

export type TableName = (typeof TABLES)[number]["name"];
