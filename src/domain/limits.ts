/**
 * The bounds that several modules use or that depend on each other, named with their units: limits, timeouts,
 * intervals and sizes. A bound that one module uses is in that module.
 * `assertRelations` checks the relations between them.
 */

// Request bodies and paths.
export const BODY_DEFAULT_MAX_BYTES = 1_048_576;
/** Bun itself refuses larger bodies, without a problem document, so this is far above our limit. */
export const BODY_TRANSPORT_MAX_BYTES = 1_099_511_627_776;
/** Maximum memory of bodies that are being read and of large answers that are being sent. Callers share it. */
export const REQUESTS_MAX_BYTES = 134_217_728;
/** Bodies of this size are parsed one at a time for each tenant. Vectors of any dimension take less in JSON. */
export const LARGE_BODY_BYTES = 98_304;
/** Minimum bytes that a body counts for while it is read. */
export const BODY_MIN_BYTES = 16_384;
/** A body must have arrived within this time. */
export const BODY_READ_TIMEOUT_MS = 10_000;
/** A larger answer is sent in pieces of this size, at the pace of its client. */
export const ANSWER_PIECE_BYTES = 262_144;
export const IDLE_TIMEOUT_SECONDS = 30;
export const PROBLEM_DETAIL_MAX_CHARS = 400;
export const PROBLEM_MAX_FIELD_ERRORS = 32;
/** References in paths: ids, slugs and names. */
export const REFERENCE_MAX_CHARS = 255;
export const JSON_MAX_DEPTH = 512;

// Credentials.
export const CREDENTIAL_MAX_CHARS = 8_192;
export const API_KEY_TAG = "tsr";
export const API_KEY_PREFIX_CHARS = 12;
export const API_KEY_SECRET_CHARS = 38;
export const API_KEY_CHECKSUM_CHARS = 6;
/** Keys with parts of other lengths than the generated ones are accepted within these bounds. */
export const API_KEY_PREFIX_MIN_CHARS = 8;
export const API_KEY_PREFIX_MAX_CHARS = 64;
export const API_KEY_SECRET_MIN_CHARS = 32;
export const API_KEY_SECRET_MAX_CHARS = 256;
export const API_KEY_NAME_MAX_CHARS = 255;
export const API_KEY_SCOPES_MAX = 64;
export const API_KEY_SCOPE_MAX_CHARS = 128;
/** Verified credentials, memberships and scopes are cached for at most this long. */
export const AUTH_CACHE_TTL_MS = 800;
/** A hit on an older entry reads it again in the background. */
export const AUTH_CACHE_REFRESH_MS = 400;
export const AUTH_CACHE_MAX_ENTRIES = 50_000;
/** The promise to callers: a revoked key or a lost membership stops working within this time. */
export const REVOCATION_BOUND_MS = 1_000;
export const JWT_CACHE_TTL_MS = 30_000;
/** Maximum advance of an issuer's clock: tokens are accepted this long before their nbf. */
export const JWT_CLOCK_SKEW_SECONDS = 5;
export const JWKS_COOLDOWN_MS = 5_000;
export const JWKS_CACHE_MAX_AGE_MS = 600_000;
export const JWKS_TIMEOUT_MS = 3_000;
/** The pause between two requests to a key server that fails. */
export const JWKS_RETRY_MS = 1_000;
/** Some thousand keys. */
export const JWKS_MAX_BYTES = 1_048_576;
/** The last use of a key is recorded at most this often. */
export const KEY_LAST_USED_INTERVAL_MS = 60_000;

// Limits of requests per credential.
/** The period in which requests of a credential, and of a user, are counted. */
export const RATE_LIMIT_WINDOW_SECONDS = 60;
/** The interval in which processes exchange their counts. */
export const RATE_LIMIT_SYNC_MS = 100;
/** Credentials that are counted. Beyond this, those that were counted first start again. */
export const RATE_LIMIT_CALLERS_MAX = 50_000;

// PostgreSQL.
export const DB_STATEMENT_TIMEOUT_MS = 10_000;
/**
 * Maximum time that callers wait for a statement outside of a transaction, and for a whole transaction.
 * The deadlines of writes exceed the timeouts of the server.
 */
export const DB_READ_DEADLINE_MS = 2_000;
export const DB_WRITE_DEADLINE_MS = 11_000;
export const DB_TRANSACTION_DEADLINE_MS = 28_000;
/** The server is probed when a statement has waited this long and no data arrives from the server. */
export const DB_SUSPECT_MS = 500;
/** A probe without an answer within this time begins an outage. */
export const DB_PROBE_TIMEOUT_MS = 1_500;
/** Closing a pool waits this long for running queries. */
export const DB_CLOSE_TIMEOUT_SECONDS = 2;
/** A starting server waits for a database that does not answer, and logs every tenth attempt. */
export const DB_WAIT_RETRY_MS = 500;
export const DB_WAIT_REPORT_ATTEMPTS = 10;
export const DEPENDENCY_RETRY_AFTER_SECONDS = 2;

// Vector search.
export const DIMENSIONS = [768, 1024, 1536, 3072, 4096] as const;
/** Maximum elements of an embedder's vectors. */
export const EMBEDDER_DIMENSION_MAX = Math.max(...DIMENSIONS);
export const SEARCH_LIMIT_DEFAULT = 10;
export const SEARCH_LIMIT_MAX = 100;
/** Fields whose values a retrieval counts. */
export const FACETS_MAX = 8;
/** Hits of one file in a retrieval that groups them. */
export const GROUP_SIZE_DEFAULT = 3;
export const GROUP_SIZE_MAX = 10;
export const SEARCH_THRESHOLD_DEFAULT = 0.7;
/** Hits of a retrieval below this score are shown as weak. */
export const WEAK_SCORE = 0.3;
/** Unknown fields of a search body that the answer names, and the longest of these names. */
export const IGNORED_FIELDS_MAX = 10;
export const IGNORED_FIELD_MAX_CHARS = 64;
/** Requests that may start in one turn of the event loop; one tenant alone has half of them. */
export const TURN_STARTS_MAX = 16;
/** Connections of the server for requests. */
export const DB_POOL_CONNECTIONS = 16;
export const DATABASE_PLACES_MAX = 14;
/** Requests that may wait at a gate. */
export const GATE_WAITING_MAX = 1_024;
/** Maximum searches of a worker's batch, because other work waits until the batch ends. */
export const SEARCH_BATCH_MAX = 64;
/** Minimum work of a full batch. */
export const SEARCH_BATCH_MIN_MS = 1;
/** When this many exact searches wait for a worker, further ones are answered with 503. */
export const SEARCH_EXACT_QUEUE_MAX = 32;
/** Projects that have had a larger answer are only searched by workers. */
export const ANSWER_INLINE_MAX_BYTES = 1_048_576;
/** The recall of at most one live search per interval is measured. */
export const RECALL_INTERVAL_MS = 100;
/** The interval at which a sample checks that measuring it would not delay a search. */
export const RECALL_IDLE_POLL_MS = 50;
/** An index whose recall is below the target in this many samples is calibrated again. */
export const RECALL_TARGET = 0.99;
export const RECALL_RECALIBRATE_SAMPLES = 64;
/**
 * Maximum time that a request waits for its project to be loaded, and for a scope of a loaded project to be indexed.
 */
export const SEARCH_LOAD_TIMEOUT_MS = 15_000;
export const SEARCH_SCOPE_TIMEOUT_MS = 25_000;
export const OVERLOAD_RETRY_AFTER_SECONDS = 1;

// Audit log.
/** Removed files that an entry names. */
export const AUDIT_PATHS_MAX = 20;

// Vector search in PostgreSQL, by the engine pgvector.
/** The nearest codes whose vectors are compared: per wanted hit, and at least. */
export const VECTOR_CANDIDATES_PER_HIT = 20;
/** Searches that would take more steps in the graph compare all codes of their scope instead. */
export const VECTOR_GRAPH_STEPS_MAX = 20_000;
/** `hnsw.max_scan_tuples`: twice as many, because near a query the scope may have a smaller share. */
export const VECTOR_GRAPH_SCAN_TUPLES = 2 * VECTOR_GRAPH_STEPS_MAX;
/** Tables with fewer rows have no codes, and with fewer still no graph. */
export const VECTOR_CODED_MIN_ROWS = 2_000;
export const VECTOR_GRAPH_MIN_ROWS = 10_000;
/** The interval at which a search checks that changes of its scope were applied. */
export const VECTOR_APPLIED_POLL_MS = 25;
export const VECTOR_LEADER_CHECK_MS = 200;
/** Replaced ranges are kept this long, which is longer than any search runs. */
export const VECTOR_CLEAN_INTERVAL_MS = 60_000;

// Indexing.
export const CHANGE_POLL_INTERVAL_MS = 400;
export const CHANGE_VISIBLE_BOUND_MS = 1_000;
export const CHANGE_BATCH_MAX = 1_000;
/** A read that names a change waits for it no longer than this. */
export const CHANGE_WAIT_MAX_MS = 5_000;
export const INDEX_BEHIND_RETRY_AFTER_SECONDS = 1;
export const CHANGE_LOG_PRUNE_INTERVAL_MS = 3_600_000;
export const INDEX_DB_CONNECTIONS = 6;
/** Time budget for adding them. */
export const INDEX_SLICE_MS = 400;
/** Announced file versions of a project that wait to be indexed; more are indexed with their scope. */
export const INDEX_ANNOUNCED_MAX = 200_000;
/** Time that file versions without a scope are kept after the last ones arrived, because a scope may follow. */
export const INDEX_UNSCOPED_KEEP_MS = 600_000;
/** File versions of a snapshot that are encoded or decoded at a time. */
export const INDEX_META_SLICE_VERSIONS = 4_096;
/** Maximum concurrent loads of projects that requests wait for. Tenants take turns. */
export const INDEX_LOADS_AT_ONCE = 4;
/** Maximum concurrent loads of a tenant, including those that continue while other tenants have a turn. */
export const INDEX_TENANT_LOADS_MAX = 8;
/** When this many loads of a tenant wait to begin, further ones are answered with 503. */
export const INDEX_TENANT_LOADS_WAITING_MAX = 128;
export const INDEX_RETRY_BASE_MS = 200;
export const INDEX_RETRY_MAX_MS = 5_000;
/** A changed project is saved to its snapshot after this time. */
export const INDEX_SNAPSHOT_INTERVAL_MS = 30_000;
/**
 * After this many file versions a changed project is saved earlier, but not before this time. Segments that are about
 * to be merged are then not saved during a load or an import, which would slow it and the first requests after it.
 */
export const INDEX_SNAPSHOT_VERSIONS = 20_000;
export const INDEX_SNAPSHOT_MIN_MS = 10_000;
/** A project that was loaded or searched within this time stays in memory, even beyond the budget. */
export const INDEX_IDLE_MS = 5_000;
/** Minimum time that a project stays in memory after its load, so that the search that waits for it can run. */
export const INDEX_LOADED_MIN_MS = 1_000;
export const INDEX_REPORT_INTERVAL_MS = 500;
/** The interval at which snapshots, eviction and the heartbeat are considered. */
export const INDEX_HOUSEKEEPING_INTERVAL_MS = 1_000;
export const INDEX_HEARTBEAT_INTERVAL_MS = 5_000;
export const INDEX_NODE_EXPIRY_SECONDS = 60;
export const INDEX_RESTART_DELAY_MS = 500;
/** Snapshots at shutdown begin within this time; the next start reads the rest from the database. */
export const INDEX_STOP_BUDGET_MS = 2_500;
/** At shutdown, for deleting the node's state and for closing the database, each. */
export const INDEX_STOP_QUERY_TIMEOUT_MS = 200;
export const INDEX_STOP_TIMEOUT_MS = 4_000;

// Conversations.
export const TREE_MAX_MESSAGES = 1_000;
/** Contents of a conversation's tree, which has no pages; one message may be longer. */
export const TREE_MAX_BYTES = 4_194_304;

// Projects.
/** Every slug can be used as a reference. */
export const PROJECT_SLUG_MAX_CHARS = REFERENCE_MAX_CHARS;
/** A project lists at most this many of its environments, in order of name. */
export const PROJECT_ENVIRONMENTS_MAX = 1_000;
/** A project lists at most this many of its releases, the newest first. */
export const PROJECT_RELEASES_MAX = 1_000;
/** A project lists at most this many of its members, owners first. */
export const PROJECT_MEMBERS_MAX = 1_000;
/** Copying a template's working sets may take longer than other statements. */
export const PROJECT_COPY_TIMEOUT_MS = 25_000;
/** Maximum time that a copy waits for another copy of the same user. */
export const PROJECT_COPY_WAIT_MAX_MS = 1_000;
export const PROJECT_COPY_RETRY_AFTER_SECONDS = 5;

// Billing.
/** An upgrade is answered within this time, even when the payment provider does not answer. */
export const BILLING_DEADLINE_MS = 11_500;
/** The longest time a caller waits for an upgrade, including the credential check. */
export const BILLING_BOUND_MS = 15_000;
/** Timeout of one attempt to open a session, from the connection to the last byte. */
export const BILLING_ATTEMPT_TIMEOUT_MS = 2_800;
export const BILLING_RETRIES = 2;
/** The longest pause of the provider's SDK between BILLING_RETRIES attempts. */
const BILLING_RETRY_WAIT_MS = 500;
/** Timeout for checking a session. It is not retried, because the stored session is good enough. */
export const BILLING_RETRIEVE_TIMEOUT_MS = 1_500;
/** A request that opens a session keeps others from opening it for at most this long. */
export const BILLING_CLAIM_MS = 15_000;

// Idempotency.
/** The duration of a lease without renewal, such as after a crash of its holder. */
export const LEASE_MS = 5_000;
export const LEASE_RENEW_MS = 1_500;
/** An attempt without an answer by then is abandoned; its outcome is unknown. */
export const ATTEMPT_TIMEOUT_MS = 12_000;
/** Time to find out the outcome after a broken connection. */
export const OUTCOME_TIMEOUT_MS = 4_000;
export const IDEMPOTENCY_KEY_MAX_CHARS = 255;
/** Maximum time that an answer waits for the lock of a concurrent one. Deliveries set the same in SQL. */
export const LOCK_TIMEOUT_MS = 5_000;

// Coordination.
/** Memory for values without Redis. Beyond it, the oldest of the user who holds the most are dropped. */
export const COORDINATION_VALUES_MAX_BYTES = 67_108_864;
/** Values of one user in Redis. Beyond it, the user's oldest are dropped. */
export const REDIS_OWNER_VALUES_MAX_BYTES = 134_217_728;
export const REDIS_COMMAND_TIMEOUT_MS = 500;

// Lists.
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 100;
/** Maximum bytes of the texts on a page, unless its first entry alone is longer. Rendering 1 MiB takes some 10 ms. */
export const LISTED_MAX_BYTES = 1_048_576;
export const CURSOR_MAX_CHARS = 13_334;

// Filters.
/** Maximum nesting of $and, $or and $not. */
export const FILTER_DEPTH_MAX = 8;
/** Comparisons in a filter. */
export const FILTER_CONDITIONS_MAX = 64;
export const FILTER_IN_MAX_VALUES = 1_000;
export const FILTER_STRING_MAX_CHARS = 1_024;
/** Filters per project whose results are kept; the tenant with the most of them loses the oldest. */
export const FILTERS_CACHED_MAX = 64;

// Knowledge text: Markdown.
/** A longer block of frontmatter is treated as text. */
export const FRONTMATTER_MAX_CHARS = 65_536;
export const FRONTMATTER_MAX_ENTRIES = 256;
export const HEADING_MAX_CHARS = 512;
export const CHUNK_MAX_CHARS = 2_000;
export const EMBED_DEFAULT_DIMENSION = 768;
/** Typical similarity of related texts by hashed features; a model's embeddings are far more alike. */
export const EMBED_HASHING_THRESHOLD = 0.2;

// Knowledge text: index and lookup.
/** Longer words are cut: they are mostly encoded data. */
export const WORD_MAX_CHARS = 64;
export const SNIPPET_MAX_CHARS = 240;
export const LOOKUP_LIMIT_MAX = 12;
export const LOOKUP_QUERY_MAX_CHARS = 500;
export const LOOKUP_SHARDS_MAX = 8;
/** The largest segment that a merge may build: merging needs its memory twice. */
export const TEXT_MERGE_MAX_DOCUMENTS = 65_536;
export const TEXT_MERGE_WHEN_BUSY = { count: 6, ratio: 1 } as const;
export const TEXT_MERGE_WHEN_IDLE = { count: 2, ratio: 8 } as const;

// Import over HTTP.
export const IMPORT_DEFAULT_MAX_BYTES = 1_073_741_824;
/** Imports at a time in one process; callers share these places. */
export const IMPORTS_MAX = 4;
/** Minimum bytes of an upload that must arrive within BODY_READ_TIMEOUT_MS. */
export const IMPORT_PACE_BYTES = 65_536;
/** A compressed body may expand to this many bytes, and to this multiple of the bytes that have arrived. */
export const IMPORT_EXPANSION_FREE_BYTES = 1_048_576;
export const IMPORT_EXPANSION_MAX = 64;
/** Lines that an import refuses before it stops. */
export const IMPORT_REFUSED_MAX = 100_000;
/** Refused lines that the answer lists. */
export const IMPORT_REPORT_ERRORS_MAX = 100;

/** Rows of a table that are read, and files that are embedded, at a time. */
export const TABLE_ROWS_PER_READ = 512;

// Import.
/** Lines are held in memory as a whole, so this bounds the memory per record. */
export const IMPORT_LINE_MAX_BYTES = 67_108_864;
/** The text of a record, without embeddings. Its tokens and postings need several times as much memory. */
export const IMPORT_RECORD_MAX_CHARS = 33_554_432;
/** Content and metadata of a chunk, because chunks are listed and indexed many at a time. */
export const IMPORT_CHUNK_MAX_CHARS = 1_048_576;
/** A batch ends after this many bytes of lines or this many rows, whichever comes first. */
export const IMPORT_BATCH_BYTES = 2_097_152;
export const IMPORT_READ_BYTES = 262_144;
/** Unknown fields that an import reports by name. */
export const IMPORT_UNKNOWN_FIELDS_MAX = 32;
export const IMPORT_NAME_MAX_CHARS = 255;
export const IMPORT_EMAIL_MAX_CHARS = 320;
/** Paths are index keys, which PostgreSQL limits to about 2,700 bytes. */
export const IMPORT_PATH_MAX_BYTES = 1_024;
export const IMPORT_INTEGER_MAX = 2_147_483_647;
export const WEBHOOK_ID_MAX_CHARS = 128;

// Documents and embedding.
/** Maximum bytes of a document's text in UTF-8, for every interface. For a converted file the stored text counts. */
export const DOCUMENT_MAX_BYTES = 16_777_216;
/** The wait before its import is repeated because embedding failed. It doubles with each failure. */
export const WATCH_RETRY_BASE_MS = 1_000;
export const WATCH_RETRY_MAX_MS = 60_000;
export const EMBED_ATTEMPTS = 6;
export const EMBED_TIMEOUT_MS = 60_000;
export const EMBED_RETRY_BASE_MS = 500;
export const EMBED_RETRY_MAX_MS = 60_000;

// Index rebuild by command.
/** A server without a report for this long counts as stopped. */
export const INDEX_STATE_FRESH_SECONDS = 15;

// Listening and shutdown.
export const STARTING_REQUESTS_MAX = 1_024;
export const DRAIN_DEADLINE_MS = 10_000;
export const DRAIN_REQUESTS_MS = 5_000;
/** Time between closing the resources and the deadline. */
export const DRAIN_MARGIN_MS = 1_000;
/** Requests that were sent before the signal are read for at most this long. */
export const DRAIN_GRACE_MS = 200;

type Relation = readonly [holds: boolean, meaning: string];

const RELATIONS: readonly Relation[] = [
  [
    DATABASE_PLACES_MAX < DB_POOL_CONNECTIONS,
    "callers and scopes are looked up even while operations use all their places",
  ],
  [AUTH_CACHE_REFRESH_MS < AUTH_CACHE_TTL_MS, "refresh happens before expiry"],
  [AUTH_CACHE_TTL_MS < REVOCATION_BOUND_MS, "caches expire within the revocation bound"],
  [CHANGE_POLL_INTERVAL_MS < CHANGE_VISIBLE_BOUND_MS, "polling meets the visibility bound"],
  [
    DB_STATEMENT_TIMEOUT_MS * 2 < VECTOR_CLEAN_INTERVAL_MS,
    "ranges of vectors are kept for longer than a search reads them",
  ],
  [
    SEARCH_LIMIT_MAX * VECTOR_CANDIDATES_PER_HIT < VECTOR_GRAPH_STEPS_MAX,
    "a graph finds as many candidates as any search of a whole table compares",
  ],
  [API_KEY_SECRET_CHARS >= API_KEY_SECRET_MIN_CHARS, "generated secrets are long enough"],
  [API_KEY_SECRET_CHARS <= API_KEY_SECRET_MAX_CHARS, "generated secrets are short enough"],
  [API_KEY_PREFIX_CHARS >= API_KEY_PREFIX_MIN_CHARS, "generated prefixes are long enough"],
  [API_KEY_PREFIX_CHARS <= API_KEY_PREFIX_MAX_CHARS, "generated prefixes are short enough"],
  [DRAIN_GRACE_MS < DRAIN_REQUESTS_MS, "requests read during the grace period can be answered"],
  [DRAIN_REQUESTS_MS < DRAIN_DEADLINE_MS, "requests drain before the process is ended"],
  [IMPORT_BATCH_BYTES <= IMPORT_LINE_MAX_BYTES, "a batch holds at least one line"],
  [
    2 * DOCUMENT_MAX_BYTES <= IMPORT_RECORD_MAX_CHARS,
    "a Markdown file and its chunks fit into a record",
  ],
  [BODY_DEFAULT_MAX_BYTES < BODY_TRANSPORT_MAX_BYTES, "our body limit applies before Bun's"],
  [
    IMPORT_DEFAULT_MAX_BYTES < BODY_TRANSPORT_MAX_BYTES,
    "the limit of imports applies before Bun's",
  ],
  [BODY_DEFAULT_MAX_BYTES < REQUESTS_MAX_BYTES, "the memory of requests holds several bodies"],
  [
    BODY_READ_TIMEOUT_MS < IDLE_TIMEOUT_SECONDS * 1_000,
    "a body that does not arrive is answered before its connection is closed as idle",
  ],
  [
    Math.max(SEARCH_LOAD_TIMEOUT_MS, SEARCH_SCOPE_TIMEOUT_MS) < IDLE_TIMEOUT_SECONDS * 1_000,
    "a request that waits for an index is answered before its connection is closed as idle",
  ],
  [
    PROJECT_COPY_TIMEOUT_MS < IDLE_TIMEOUT_SECONDS * 1_000,
    "a slow copy fails before its connection is closed as idle",
  ],
  [
    DB_STATEMENT_TIMEOUT_MS < DB_WRITE_DEADLINE_MS,
    "PostgreSQL cancels a statement before its caller gives up",
  ],
  [
    PROJECT_COPY_TIMEOUT_MS < DB_TRANSACTION_DEADLINE_MS &&
      DB_TRANSACTION_DEADLINE_MS < IDLE_TIMEOUT_SECONDS * 1_000,
    "a transaction outlasts a slow copy, and fails before its connection is closed as idle",
  ],
  [
    DB_SUSPECT_MS + DB_PROBE_TIMEOUT_MS <= DB_READ_DEADLINE_MS,
    "an outage is known when the first reads give up",
  ],
  [
    LOCK_TIMEOUT_MS < DB_STATEMENT_TIMEOUT_MS,
    "a wait for a lock ends before the statement times out",
  ],
  [LEASE_RENEW_MS * 2 < LEASE_MS, "a lease outlives a lost renewal"],
  [
    DB_STATEMENT_TIMEOUT_MS < ATTEMPT_TIMEOUT_MS,
    "PostgreSQL cancels a statement before the attempt ends",
  ],
  [
    ATTEMPT_TIMEOUT_MS + OUTCOME_TIMEOUT_MS < IDLE_TIMEOUT_SECONDS * 1_000,
    "no delivery is cut as an idle connection",
  ],
  [
    DRAIN_REQUESTS_MS > OUTCOME_TIMEOUT_MS,
    "outcomes after a broken connection are known before a drain ends",
  ],
  [
    DRAIN_REQUESTS_MS + INDEX_STOP_TIMEOUT_MS <= DRAIN_DEADLINE_MS - DRAIN_MARGIN_MS,
    "the last snapshots are saved after the last requests",
  ],
  [
    INDEX_STOP_BUDGET_MS < INDEX_STOP_TIMEOUT_MS,
    "the indexer can finish a snapshot that it has begun",
  ],
  [INDEX_SNAPSHOT_MIN_MS <= INDEX_SNAPSHOT_INTERVAL_MS, "many changes are saved earlier than few"],
  [INDEX_LOADS_AT_ONCE <= INDEX_TENANT_LOADS_MAX, "a tenant who is alone uses all places of loads"],
  [
    INDEX_HEARTBEAT_INTERVAL_MS * 2 < INDEX_NODE_EXPIRY_SECONDS * 1_000,
    "a node outlives a lost heartbeat",
  ],
  [
    JWKS_TIMEOUT_MS + BILLING_DEADLINE_MS < BILLING_BOUND_MS,
    "upgrades are answered within their bound",
  ],
  [BILLING_BOUND_MS < IDLE_TIMEOUT_SECONDS * 1_000, "no upgrade is cut as an idle connection"],
  [
    (BILLING_RETRIES + 1) * BILLING_ATTEMPT_TIMEOUT_MS +
      BILLING_RETRIES * BILLING_RETRY_WAIT_MS +
      2 * BILLING_RETRIEVE_TIMEOUT_MS <
      BILLING_CLAIM_MS,
    "a claim outlasts the attempts made under it",
  ],
];

/** Throws when two bounds contradict each other. Called at every start. */
export function assertRelations(): void {
  for (const [holds, meaning] of RELATIONS) {
    if (!holds) throw new Error(`limits.ts contradicts itself: ${meaning}`);
  }
}
