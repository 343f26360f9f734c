/**
 * Every bound of the service, named with its unit. A number that limits, times out, caps or
 * sizes something belongs here and nowhere else; `assertRelations` states what must hold
 * between them.
 */

// Request bodies and paths.
export const BODY_DEFAULT_MAX_BYTES = 1_048_576;
/** Bun refuses bodies above this by itself, without a problem document, so it sits far above ours. */
export const BODY_TRANSPORT_MAX_BYTES = 1_073_741_824;
export const IDLE_TIMEOUT_SECONDS = 30;
export const PROBLEM_DETAIL_MAX_CHARS = 400;
export const PROBLEM_MAX_FIELD_ERRORS = 32;
/** Messages cut the values that they name to this length. */
export const ABBREVIATED_MAX_CHARS = 64;
export const REFERENCE_MAX_CHARS = 255;
export const JSON_MAX_DEPTH = 512;

// Credentials.
export const CREDENTIAL_MAX_CHARS = 8192;
export const API_KEY_TAG = "tsr";
export const API_KEY_PREFIX_CHARS = 12;
export const API_KEY_SECRET_CHARS = 38;
export const API_KEY_CHECKSUM_CHARS = 6;
export const API_KEY_PREFIX_MIN_CHARS = 8;
export const API_KEY_SECRET_MIN_CHARS = 32;
export const API_KEY_NAME_MAX_CHARS = 255;
export const API_KEY_SCOPES_MAX = 64;
export const API_KEY_SCOPE_MAX_CHARS = 128;
/** A verified credential, membership or scope is believed for at most this long. */
export const AUTH_CACHE_TTL_MS = 800;
/** Entries older than this are read again in the background while they still serve. */
export const AUTH_CACHE_REFRESH_MS = 400;
export const AUTH_CACHE_MAX_ENTRIES = 50_000;
/** The promise to callers: a revoked key, a lost membership stop working within this time. */
export const REVOCATION_BOUND_MS = 1_000;
export const JWT_CACHE_TTL_MS = 30_000;
/** How far ahead an issuer's clock may be: tokens are accepted that long before their nbf. */
export const JWT_CLOCK_SKEW_SECONDS = 5;
export const JWKS_COOLDOWN_MS = 5_000;
export const JWKS_CACHE_MAX_AGE_MS = 600_000;
export const JWKS_TIMEOUT_MS = 3_000;
export const KEY_LAST_USED_INTERVAL_MS = 60_000;
export const KEY_LAST_USED_FLUSH_MS = 1_000;

// PostgreSQL.
export const DB_POOL_CONNECTIONS = 16;
export const DB_CONNECT_TIMEOUT_SECONDS = 5;
export const DB_STATEMENT_TIMEOUT_MS = 10_000;
export const DB_IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
/** A start waits for a database that does not answer, and says so every tenth time. */
export const DB_WAIT_RETRY_MS = 500;
export const DB_WAIT_REPORT_ATTEMPTS = 10;
export const DB_TRANSACTION_ATTEMPTS = 4;
export const DB_RETRY_BASE_MS = 20;
export const DEPENDENCY_RETRY_AFTER_SECONDS = 2;

// Vector search.
export const DIMENSIONS = [768, 1024, 1536, 3072, 4096] as const;
export const SEARCH_LIMIT_DEFAULT = 10;
export const SEARCH_LIMIT_MAX = 100;
export const SEARCH_THRESHOLD_DEFAULT = 0.7;
/** Requests waiting for a worker beyond this are answered 503 instead of queued. */
export const SEARCH_QUEUE_MAX = 1_024;
export const SEARCH_BATCH_MAX = 8;
/** A search that is known to cost at most this may run on the main thread, without a hand-off. */
export const SEARCH_INLINE_MAX_MS = 1;
/** Searches may take this much of one turn of the main thread's event loop; the rest is handed on. */
export const SEARCH_TURN_MS = 1;
/** Scopes whose cost is remembered for that. */
export const SEARCH_COSTS_REMEMBERED = 10_000;
export const SEARCH_LOAD_TIMEOUT_MS = 15_000;
export const OVERLOAD_RETRY_AFTER_SECONDS = 1;

// Indexing.
export const CHANGE_POLL_INTERVAL_MS = 400;
export const CHANGE_VISIBLE_BOUND_MS = 1_000;
export const CHANGE_BATCH_MAX = 1_000;
export const CHANGE_LOG_RETENTION_DAYS = 7;
export const CHANGE_LOG_PRUNE_INTERVAL_MS = 3_600_000;
export const INDEX_DB_CONNECTIONS = 6;
/** Chunks with their embeddings that are read at once. */
export const INDEX_READ_BATCH_ROWS = 64;
/** File versions that are added before other scopes of the project may have their turn. */
export const INDEX_SLICE_MIN_VERSIONS = 16;
export const INDEX_SLICE_VERSIONS = 256;
/** So long may adding them take, and a long scope that goes before another one. */
export const INDEX_SLICE_MS = 150;
/** Projects that read more than a slice at once, so that small changes find a free connection. */
export const INDEX_BULK_READERS = 2;
/** Graph work holds up changes for about this long at a time. */
export const INDEX_SETTLE_SLICE_MS = 20;
/** While changes are taken in, graph work rests this many times as long as it runs. */
export const INDEX_SETTLE_REST = 3;
/** Whatever holds the indexing thread for longer is reported at the log level `debug`. */
export const INDEX_STEP_LONG_MS = 25;
export const INDEX_RETRY_BASE_MS = 200;
export const INDEX_RETRY_MAX_MS = 5_000;
/** A changed project is written to its snapshot after this time, or this many file versions. */
export const INDEX_SNAPSHOT_INTERVAL_MS = 30_000;
export const INDEX_SNAPSHOT_VERSIONS = 20_000;
/** Share of the machine's memory that indexes may fill before idle projects are dropped. */
export const INDEX_MEMORY_SHARE = 0.6;
/** A project that was searched within this time is not idle. */
export const INDEX_IDLE_MS = 60_000;
/** Processes that can share one DATA_DIR. */
export const INDEX_SLOTS_MAX = 64;
export const INDEX_REPORT_INTERVAL_MS = 500;
/** Snapshots, eviction and the heartbeat are looked after this often. */
export const INDEX_UPKEEP_INTERVAL_MS = 1_000;
export const INDEX_HEARTBEAT_INTERVAL_MS = 5_000;
export const INDEX_NODE_EXPIRY_SECONDS = 60;
export const INDEX_RESTART_DELAY_MS = 500;
/** Snapshots at shutdown begin within this time; what they miss is read again at the start. */
export const INDEX_STOP_BUDGET_MS = 2_500;
export const INDEX_STOP_TIMEOUT_MS = 4_000;

// Conversations.
export const TREE_MAX_MESSAGES = 1_000;

// Users.
/** The longest address there is; anything longer in a token is not one. */
export const USER_EMAIL_MAX_CHARS = 320;

// Projects.
/** As long as a reference to a project may be, so that every slug can be used as one. */
export const PROJECT_SLUG_MAX_CHARS = REFERENCE_MAX_CHARS;
/** Copying a template's working sets may take longer than other statements, while somebody waits. */
export const PROJECT_COPY_TIMEOUT_MS = 25_000;

// Branches.
export const BRANCH_REQUIRED_APPROVALS_DEFAULT = 1;

// Billing.
/** An upgrade is answered within this time, even when the payment provider does not answer. */
export const BILLING_DEADLINE_MS = 11_500;
/** The longest time a caller waits for an upgrade, including the credential check. */
export const BILLING_BOUND_MS = 15_000;
/** Timeout of one attempt to open a session, from the connection to the last byte. */
export const BILLING_ATTEMPT_TIMEOUT_MS = 2_800;
export const BILLING_RETRIES = 2;
/** The longest pause of the provider's SDK between so few attempts. */
export const BILLING_RETRY_WAIT_MS = 500;
/** Timeout for checking a session. It is not retried, because the stored session is good enough. */
export const BILLING_RETRIEVE_TIMEOUT_MS = 1_500;
/** A request that opens a session keeps others from opening it for at most this long. */
export const BILLING_CLAIM_MS = 15_000;
export const BILLING_CLAIM_POLL_MS = 100;
/** The provider's default, for responses without an expiry. */
export const BILLING_SESSION_LIFE_SECONDS = 86_400;
/** Earlier sessions of an account that are checked for a customer. */
export const BILLING_EARLIER_SESSIONS_MAX = 3;
export const BILLING_ANSWER_MAX_BYTES = 1_048_576;
/** The provider rejects longer URLs. */
export const BILLING_URL_MAX_CHARS = 5_000;
/** JSON numbers are exact up to this value. The provider has limits of its own. */
export const BILLING_QUANTITY_MAX = Number.MAX_SAFE_INTEGER;
export const BILLING_ERROR_MAX_CHARS = 400;

// Idempotency.
/** Whoever works on a key holds it for this long at a time; a crash frees it after as long. */
export const LEASE_MS = 5_000;
export const LEASE_RENEW_MS = 1_500;
/** An attempt that the database has not answered by then is given up, its outcome unknown. */
export const ATTEMPT_TIMEOUT_MS = 12_000;
/** After a broken connection the outcome is looked for this long. */
export const SETTLE_TIMEOUT_MS = 4_000;
export const SETTLE_RETRY_MS = 50;
export const IDEMPOTENCY_RETRY_AFTER_SECONDS = 1;
export const IDEMPOTENCY_KEY_MAX_CHARS = 255;
/** An answer waits this long for a rival that is being stored; deliveries do the same in SQL. */
export const LOCK_TIMEOUT_MS = 5_000;
/** Retries of a delivery when a concurrent one with the same key commits between two statements. */
export const DELIVERY_RACE_RETRIES = 3;
/** Exponents of JSON numbers that have more characters are compared as they are spelt. */
export const EXPONENT_MAX_CHARS = 15;

// Redis.
export const REDIS_CONNECT_TIMEOUT_MS = 2_000;
export const REDIS_COMMAND_TIMEOUT_MS = 500;
export const REDIS_RECONNECT_MS = 250;
/** After a failure nothing is asked for this long, so that a frozen server slows nobody down. */
export const REDIS_REST_MS = 1_000;

// Chunk listing.
export const CHUNK_PAGE_DEFAULT = 50;
export const CHUNK_PAGE_MAX = 100;
export const CURSOR_MAX_CHARS = 13_334;

// Knowledge text: Markdown.
/** A block of frontmatter that is longer is taken for text. */
export const FRONTMATTER_MAX_CHARS = 65_536;
export const FRONTMATTER_MAX_DEPTH = 16;
export const FRONTMATTER_MAX_ENTRIES = 256;
export const FRONTMATTER_MAX_NODES = 4_096;
export const TITLE_MAX_CHARS = 512;
export const HEADING_MAX_CHARS = 512;
/** A chunk is filled up to here where paragraphs allow, and never grows beyond the maximum. */
export const CHUNK_TARGET_CHARS = 1_200;
export const CHUNK_MAX_CHARS = 2_000;
export const EMBED_DEFAULT_DIMENSION = 768;
/** Hashed features of related texts are this alike; a model's embeddings are far more. */
export const EMBED_HASHING_THRESHOLD = 0.2;

// Knowledge text: index and lookup.
/** Longer words are cut; nobody types them and they are mostly encoded data. */
export const WORD_MAX_CHARS = 64;
/** Words of one document beyond these are not indexed, so that one file cannot fill the memory. */
export const DOCUMENT_MAX_WORDS = 262_144;
export const QUERY_MAX_WORDS = 64;
/** Words that the last, unfinished word of a query may stand for, a segment. */
export const PREFIX_MAX_TERMS = 2_048;
/** Words at one typo's distance that a misspelt word may stand for, a segment. */
export const FUZZY_MAX_TERMS = 64;
/** Shorter words must be spelt right. */
export const FUZZY_MIN_CHARS = 4;
/** The best matches of the first pass, which the second pass orders by closeness of the words. */
export const RERANK_DOCUMENTS = 64;
/** Words of one document that the second pass looks at. */
export const RERANK_MAX_WORDS = 16_384;

/** A worker keeps this many views open, and none that was unused for this long. */
export const LOOKUP_VIEWS_OPEN = 64;
export const LOOKUP_VIEW_IDLE_MS = 30_000;
export const LOOKUP_LIMIT_MAX = 12;
export const LOOKUP_QUERY_MAX_CHARS = 500;
export const LOOKUP_SHARDS_MAX = 8;
export const LOOKUP_CURSOR_TTL_SECONDS = 900;
/** Random characters of a cursor, which alone lead to its state. */
export const LOOKUP_CURSOR_BYTES = 18;
/** Text of Markdown that is made into a segment at once. */
export const TEXT_BUILD_CHARS = 262_144;
/** No merge makes a larger segment: its memory is needed twice while it is made. */
export const TEXT_MERGE_MAX_DOCUMENTS = 65_536;
/**
 * When segments are joined: this many of about one size, each at most `ratio` times as large as the
 * smaller ones together. While documents come in, joins are few; later they tidy up.
 */
export const TEXT_MERGE_WHEN_BUSY = { count: 4, ratio: 1 } as const;
export const TEXT_MERGE_WHEN_IDLE = { count: 2, ratio: 8 } as const;
export const TEXT_MERGE_IDLE_MS = 1_500;

// Embedded PostgreSQL.
export const EMBEDDED_PASSWORD_BYTES = 24;
/** Replaying the write-ahead log after a crash may take this long. */
export const EMBEDDED_START_TIMEOUT_SECONDS = 300;
/** A fast shutdown writes one checkpoint. */
export const EMBEDDED_STOP_TIMEOUT_SECONDS = 60;
/** Attempts while the port is lost to somebody else or a killed server has not quite ended. */
export const EMBEDDED_START_ATTEMPTS = 10;
export const EMBEDDED_RETRY_MS = 200;
export const EMBEDDED_POLL_MS = 20;
/** How often a process looks whether the server that it uses still runs. */
export const EMBEDDED_GUARD_INTERVAL_MS = 500;
/** The pause after a restart of the server has failed. */
export const EMBEDDED_GUARD_RETRY_MS = 10_000;
/** A start that finds a larger server log begins a new one. */
export const EMBEDDED_LOG_MAX_BYTES = 16_777_216;
/** Of a server log, this much of the end is searched for the cause of a failure. */
export const EMBEDDED_LOG_TAIL_CHARS = 4_000;
export const EMBEDDED_LOCK_RETRY_MS = 25;
/** A wait for another process that starts or stops the server is reported after this time. */
export const EMBEDDED_LOCK_REPORT_MS = 2_000;
/** Whoever holds the lock may be starting a server. */
export const EMBEDDED_LOCK_TIMEOUT_MS = 400_000;

// Import.
/** A line is held whole, so this bounds the memory that one record can take. */
export const IMPORT_LINE_MAX_BYTES = 67_108_864;
/** A batch ends at whichever comes first: this many bytes of lines, or this many rows to write. */
export const IMPORT_BATCH_BYTES = 2_097_152;
export const IMPORT_BATCH_ROWS = 5_000;
/** Rows and bytes of parameters that one statement writes. */
export const IMPORT_STATEMENT_ROWS = 2_000;
export const IMPORT_STATEMENT_BYTES = 2_097_152;
export const IMPORT_READ_BYTES = 262_144;
/** Rows that an import remembers from one batch to the next. */
export const IMPORT_REMEMBERED_ROWS = 100_000;
/** Faults that one line's report names; the rest is the same mistake in most files. */
export const IMPORT_LINE_FAULTS = 3;
/** Fields that the format lacks, of which an import tells by name. */
export const IMPORT_STRAY_FIELDS = 32;
export const IMPORT_NAME_MAX_CHARS = 255;
export const IMPORT_EMAIL_MAX_CHARS = 320;
export const IMPORT_TEXT_MAX_CHARS = 8_192;
/** Paths are keys of an index, whose entries PostgreSQL bounds at about 2,700 bytes. */
export const IMPORT_PATH_MAX_BYTES = 1_024;
export const IMPORT_INTEGER_MAX = 2_147_483_647;
export const IMPORT_CHARS_PER_TOKEN = 4;
export const WEBHOOK_ID_MAX_CHARS = 128;

// Markdown import and embedding.
export const MARKDOWN_FILE_MAX_BYTES = 16_777_216;
export const MARKDOWN_FILES_PER_STEP = 64;
export const EMBED_BATCH_INPUTS = 64;
export const EMBED_BATCH_CHARS = 200_000;
export const EMBED_ATTEMPTS = 6;
export const EMBED_TIMEOUT_MS = 60_000;
export const EMBED_RETRY_BASE_MS = 500;
export const EMBED_RETRY_MAX_MS = 60_000;
/** Of an error answer, this much is shown. */
export const EMBED_ERROR_MAX_CHARS = 200;

// Index rebuild by command.
export const REBUILD_POLL_MS = 250;
/** A server that has not reported for this long is taken for stopped. */
export const INDEX_STATE_FRESH_SECONDS = 15;

// Shutdown.
export const DRAIN_DEADLINE_MS = 10_000;
export const DRAIN_REQUESTS_MS = 5_000;
/** Requests that were sent before the signal are still read for this long at most. */
export const DRAIN_GRACE_MS = 200;
/** No new request within this time means that all of them have been read. */
export const DRAIN_QUIET_MS = 20;

/** Fails at start-up when two bounds that depend on one another were changed apart. */
export function assertRelations(): void {
  const relations: Array<[boolean, string]> = [
    [AUTH_CACHE_REFRESH_MS < AUTH_CACHE_TTL_MS, "refresh happens before expiry"],
    [AUTH_CACHE_TTL_MS < REVOCATION_BOUND_MS, "caches expire within the revocation bound"],
    [CHANGE_POLL_INTERVAL_MS < CHANGE_VISIBLE_BOUND_MS, "polling meets the visibility bound"],
    [API_KEY_SECRET_CHARS >= API_KEY_SECRET_MIN_CHARS, "generated secrets are long enough"],
    [API_KEY_PREFIX_CHARS >= API_KEY_PREFIX_MIN_CHARS, "generated prefixes are long enough"],
    [DRAIN_GRACE_MS < DRAIN_REQUESTS_MS, "what is read during the grace can be answered"],
    [DRAIN_REQUESTS_MS < DRAIN_DEADLINE_MS, "requests drain before the process must be gone"],
    [
      EMBEDDED_START_TIMEOUT_SECONDS * 1_000 < EMBEDDED_LOCK_TIMEOUT_MS,
      "the lock outlasts a start of PostgreSQL",
    ],
    [IMPORT_BATCH_BYTES <= IMPORT_LINE_MAX_BYTES, "a batch holds at least one line"],
    [BODY_DEFAULT_MAX_BYTES < BODY_TRANSPORT_MAX_BYTES, "our body limit answers first"],
    [
      PROJECT_COPY_TIMEOUT_MS < IDLE_TIMEOUT_SECONDS * 1_000,
      "a copy that takes too long is answered before the connection is closed",
    ],
    [LOCK_TIMEOUT_MS < DB_STATEMENT_TIMEOUT_MS, "a wait for a lock ends as such"],
    [LEASE_RENEW_MS * 2 < LEASE_MS, "a lease outlives a lost renewal"],
    [DB_STATEMENT_TIMEOUT_MS < ATTEMPT_TIMEOUT_MS, "PostgreSQL gives up on a statement first"],
    [
      ATTEMPT_TIMEOUT_MS + SETTLE_TIMEOUT_MS < IDLE_TIMEOUT_SECONDS * 1_000,
      "no delivery is cut as an idle connection",
    ],
    [DRAIN_REQUESTS_MS > SETTLE_TIMEOUT_MS, "a broken connection is settled before a drain ends"],
    [
      DRAIN_REQUESTS_MS + INDEX_STOP_TIMEOUT_MS < DRAIN_DEADLINE_MS,
      "the last snapshots fit behind the last requests",
    ],
    [INDEX_STOP_BUDGET_MS < INDEX_STOP_TIMEOUT_MS, "the indexer may finish the snapshot it is at"],
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
  for (const [holds, meaning] of relations) {
    if (!holds) throw new Error(`limits.ts contradicts itself: ${meaning}`);
  }
}
