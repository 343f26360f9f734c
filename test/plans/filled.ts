import type { Sql } from "../../src/db/client.ts";

/** Rows of the larger tables: so many that the planner prefers an index to a sequential scan. */
const ROWS = 4_000;
const PARENTS = 2_000;

/** SQL for a UUID computed from a number, so that tables can refer to each other by number. */
const id = (of: string, number: string) => `md5('${of}' || (${number}))::uuid`;

/** The id of row `number` (from 1) of a table after `fill`. */
export async function idOf(sql: Sql, table: string, number: number): Promise<string> {
  const [row] = await sql.unsafe<{ id: string }[]>(`SELECT ${id(table, String(number))} AS id`);
  return row?.id as string;
}

/** Fills every table that queries read, so that plans are those of a service in use. */
export async function fill(sql: Sql): Promise<void> {
  const parent = `(i % ${PARENTS}) + 1`;
  const series = (count: number) => `generate_series(1, ${count}) i`;
  await sql.unsafe(`
    INSERT INTO users (id, email) SELECT ${id("users", "i")}, 'user' || i || '@example.com' FROM ${series(PARENTS)};
    INSERT INTO projects (id, slug, name) SELECT ${id("projects", "i")}, 'p' || i, 'Project' FROM ${series(PARENTS)};
    INSERT INTO memberships (project_id, user_id)
      SELECT ${id("projects", `(i * 7) % ${PARENTS} + 1`)}, ${id("users", parent)} FROM ${series(ROWS)} ON CONFLICT DO NOTHING;
    INSERT INTO api_keys (id, user_id, project_id, name, key_prefix, key_hash)
      SELECT ${id("api_keys", "i")}, ${id("users", parent)}, ${id("projects", parent)}, 'key', 'tsr_' || i,
        sha256(i::text::bytea) FROM ${series(ROWS)};
    INSERT INTO files (id, project_id, path)
      SELECT ${id("files", "i")}, ${id("projects", parent)}, 'docs/' || i || '.md' FROM ${series(ROWS)};
    INSERT INTO file_versions (id, project_id, file_id, version_key, title)
      SELECT ${id("file_versions", "i")}, ${id("projects", parent)}, ${id("files", "i")}, 'v1', 'a' FROM ${series(ROWS)};
    INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content)
      SELECT ${id("chunks", "i")}, ${id("projects", parent)}, ${id("files", "i")}, ${id("file_versions", "i")},
        'docs/' || i || '.md', 0, repeat('text ', 20) FROM ${series(ROWS)};
    INSERT INTO releases (id, project_id, name)
      SELECT ${id("releases", "i")}, ${id("projects", parent)}, 'v' || i FROM ${series(ROWS)};
    INSERT INTO environments (id, project_id, name)
      SELECT ${id("environments", "i")}, ${id("projects", parent)}, 'env' || i FROM ${series(ROWS)};
    INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
      SELECT ${id("projects", parent)}, ${id("environments", "i")}, ${id("files", "i")}, ${id("file_versions", "i")}
      FROM ${series(ROWS)};
    INSERT INTO branches (id, project_id, name)
      SELECT ${id("branches", "i")}, ${id("projects", parent)}, 'branch' || i FROM ${series(ROWS)};
    INSERT INTO branch_approvals (id, branch_id, approved_by)
      SELECT ${id("branch_approvals", "i")}, ${id("branches", "i")}, ${id("users", parent)} FROM ${series(ROWS)};
    INSERT INTO status_checks (id, branch_id, check_name, status)
      SELECT ${id("status_checks", "i")}, ${id("branches", "i")}, 'tests', 'pending' FROM ${series(ROWS)};
    INSERT INTO conversations (id, project_id, created_by)
      SELECT ${id("conversations", "i")}, ${id("projects", parent)}, ${id("users", parent)} FROM ${series(ROWS)};
    INSERT INTO messages (id, conversation_id, seq, role)
      SELECT ${id("messages", "i")}, ${id("conversations", parent)}, i, 'user' FROM ${series(ROWS)};
    INSERT INTO runs (id, conversation_id) SELECT ${id("runs", "i")}, ${id("conversations", "i")} FROM ${series(ROWS)};
    INSERT INTO input_requests (id, conversation_id)
      SELECT ${id("input_requests", "i")}, ${id("conversations", "i")} FROM ${series(ROWS)};
    INSERT INTO webhook_definitions (id, name, project_id, secret_hash)
      SELECT 'hook' || i, 'hook' || i, ${id("projects", parent)}, sha256(i::text::bytea) FROM ${series(ROWS)};
    INSERT INTO webhook_events (id, webhook_definition_id, project_id, fingerprint, is_json,
        conversation_id, message_id, run_id, latest_event_id, payload, received_at)
      SELECT ${id("webhook_events", "i")}, 'hook' || ${parent}, ${id("projects", parent)},
        sha256(i::text::bytea), true, ${id("conversations", parent)}, ${id("messages", "i")},
        ${id("runs", "i")}, i, '{}', now() - i * interval '1 second'
      FROM ${series(ROWS)};
    INSERT INTO input_responses (id, input_request_id, conversation_id, actor_id, values)
      SELECT ${id("input_responses", "i")}, ${id("input_requests", "i")}, ${id("conversations", "i")}, 'a', '{}'
      FROM generate_series(101, ${ROWS}) i;
    INSERT INTO question_days (project_id, day, asked, without_hits, durations)
      SELECT ${id("projects", parent)}, '2026-01-01'::date + i, i, 0, '{1}' FROM ${series(ROWS)};
    INSERT INTO questions (project_id, day, question, asked, without_hits)
      SELECT ${id("projects", parent)}, '2026-01-01'::date + i, 'question', i, 0 FROM ${series(ROWS)};
    -- The entries that triggers have made of the rows above would outnumber all others.
    TRUNCATE audit_log;
    INSERT INTO audit_log (action, project_id, user_id, at)
      SELECT 'file.written', ${id("projects", parent)}, ${id("users", parent)}, now() - i * interval '1 second'
      FROM ${series(ROWS)}`);
  await sql.unsafe("ANALYZE");
}
