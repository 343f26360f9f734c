/**
 * The baseline: a bare `Bun.serve` handler that parses the body and makes the same inserts, without
 * checking secrets or duplicates and without coordination. Arguments: the URL of the database, the
 * ids of the webhook definition and its project, and the way of inserting: `transaction` sends the
 * statements one by one, as handlers commonly do; `function` calls the service's SQL function.
 */
import { randomUUID } from "node:crypto";
import { openDatabase, type Sql } from "../../src/db/client.ts";
import { storeDelivery } from "../../src/platform/webhooks/queries.ts";

const FINGERPRINT = new Uint8Array(32);

interface Ids {
  readonly event: string;
  readonly conversation: string;
  readonly message: string;
  readonly run: string;
}

/** Where deliveries are inserted. */
interface Place {
  readonly sql: Sql;
  readonly definitionId: string;
  readonly projectId: string;
}

async function insertOneByOne(
  { sql, definitionId, projectId }: Place,
  ids: Ids,
  key: string,
  payload: unknown,
): Promise<void> {
  const parts = [{ type: "webhook", payload }];
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO conversations (id, project_id, type, message_count, latest_event_id,
        current_node, created_by, last_message_at)
      VALUES (${ids.conversation}, ${projectId}, 'webhook', 1, 1, ${ids.message}, 'bare', now())`;
    await tx`
      INSERT INTO messages (id, conversation_id, seq, role, parts, created_by, idempotency_key)
      VALUES (${ids.message}, ${ids.conversation}, 1, 'user', ${tx.json(parts as never)}, 'bare', ${key})`;
    await tx`
      INSERT INTO runs (id, conversation_id, message_id)
      VALUES (${ids.run}, ${ids.conversation}, ${ids.message})`;
    await tx`
      INSERT INTO webhook_events (id, webhook_definition_id, project_id, idempotency_key,
        fingerprint, is_json, conversation_id, message_id, run_id, latest_event_id, payload)
      VALUES (${ids.event}, ${definitionId}, ${projectId}, ${key}, ${FINGERPRINT as Buffer}, true,
        ${ids.conversation}, ${ids.message}, ${ids.run}, 1, ${tx.json(payload as never)})`;
  });
}

/** Serves and returns the address. */
export function start(databaseUrl = "", definitionId = "", projectId = "", inserts = ""): string {
  const sql = openDatabase(databaseUrl);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const payload = await request.json();
      const key = request.headers.get("idempotency-key") ?? "";
      const [event, conversation, message, run] = [
        randomUUID(),
        randomUUID(),
        randomUUID(),
        randomUUID(),
      ] as [string, string, string, string];
      const ids = { event, conversation, message, run };
      if (inserts === "function") {
        const json = JSON.stringify(payload);
        const kept = { json, isJson: true, fingerprint: FINGERPRINT };
        await storeDelivery(sql, { definitionId, key, payload: kept, ids });
      } else {
        await insertOneByOne({ sql, definitionId, projectId }, ids, key, payload);
      }
      return Response.json({ ...ids, payload });
    },
  });
  return server.url.origin;
}

if (import.meta.main) {
  process.stdout.write(`listening on ${start(...process.argv.slice(2))}\n`);
}
