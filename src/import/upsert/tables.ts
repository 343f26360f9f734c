/** How the import writes one column. Parameters are text, which PostgreSQL casts to `type`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** SQL of the default for a new row whose record does not give the field; NULL if absent. */
  readonly fallback?: string;
  /** SQL that converts the text `u.<name>` to the column's type, if a cast is not enough. */
  readonly read?: string;
  /** True for counters and timestamps that never decrease: an update keeps the larger value. */
  readonly monotonic?: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** How many of the first columns form the key. */
  readonly keyColumns: number;
  /**
   * lookup: a lookup decides whether a row is inserted or updated; upsert: a row is inserted, or updated if it
   * exists; insert-only: a row is inserted, or ignored if it exists.
   */
  readonly mode: "lookup" | "upsert" | "insert-only";
  /** True for a temporary table: its rows do not count as changed. */
  readonly temporary?: boolean;
  /** SQL condition on `t` under which an existing row may be updated. */
  readonly updateWhen?: string;
  /** SQL of further assignments when an existing row is updated. */
  readonly onChange?: string;
}

function columns(definition: string): Column[] {
  return definition
    .trim()
    .split("\n")
    .map((line) => {
      const [name = "", type = "", ...fallback] = line.trim().split(/\s+/);
      return { name, type, ...(fallback[0] && { fallback: fallback.join(" ") }) };
    });
}

function table(
  name: string,
  definition: string,
  options: Partial<Omit<Table, "name" | "columns">> = {},
): Table {
  return { name, columns: columns(definition), keyColumns: 1, mode: "lookup", ...options };
}

/** Every table that an import writes. Tables come after those that their rows refer to. */
export const TABLES: readonly Table[] = [
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
     config json '{}'
     is_claimed boolean true
     prompt_count integer 0
     provider text
     layout text
     published_at timestamptz
     embedder text`,
    { onChange: "updated_at = now()" },
  ),
  table(
    "memberships",
    `user_id uuid
     project_id uuid
     role text`,
    { mode: "upsert", keyColumns: 2 },
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
     environment_variables json '[]'
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
     title text
     given_embeddings text
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
         metadata json
         dimension integer
         embedder text`,
      ),
      { name: "embedding", type: "bytea", read: "decode(u.embedding, 'base64')" },
    ],
  },
  table(
    "embedding_queue",
    `file_version_id uuid
     project_id uuid`,
    { mode: "insert-only" },
  ),
  table(
    "import_scopes",
    `scope_id uuid
     file_id uuid
     project_id uuid
     file_version_id uuid
     is_release boolean
     removed boolean
     record bigint`,
    { mode: "upsert", keyColumns: 2, temporary: true },
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
         metadata json
         agent_id text
         runtime_target_kind text
         runtime_target_environment_id text
         runtime_target_branch_id text
         created_by text
         created_at timestamptz now()
         updated_at timestamptz now()
         archived_at timestamptz`,
      ),
      { name: "message_count", type: "integer", fallback: "0", monotonic: true },
      { name: "last_message_at", type: "timestamptz", monotonic: true },
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
     token_usage json
     finish_reason text
     cost_credits text
     idempotency_key text
     metadata json
     created_at timestamptz now()
     updated_at timestamptz
     edited_at timestamptz`,
  ),
  table("import_conversations", "id uuid", { mode: "insert-only", temporary: true }),
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
     fields json '[]'
     recommendations json
     metadata json
     created_at timestamptz now()
     expires_at timestamptz
     submitted_at timestamptz
     cancelled_at timestamptz
     expired_at timestamptz`,
    // Importing a request again must not reopen it after it was answered.
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
    { mode: "insert-only" },
  ),
  table(
    "webhook_definitions",
    `id text
     name text
     project_id uuid
     secret_hash bytea
     enabled boolean true
     conversation_id uuid`,
  ),
];
