/**
 * The baseline: a bare `Bun.serve` handler that runs the same SQL through postgres.js and nothing
 * else: no credentials, validation, problem documents or ETags. Arguments: the URL of the database
 * and the id of the calling user.
 */

import type { Principal } from "../../src/auth/principal.ts";
import { openDatabase } from "../../src/db/client.ts";
import { TREE_MAX_MESSAGES } from "../../src/domain/limits.ts";
import {
  readConversation,
  readMessage,
  readMessages,
} from "../../src/platform/conversations/queries.ts";

const caller = (userId: string): Principal => ({
  userId,
  identity: null,
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
});

/** Serves and returns the address. */
export function start(databaseUrl = "", userId = ""): string {
  const sql = openDatabase(databaseUrl);
  const principal = caller(userId);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const [, , , , id = "", kind, messageId = ""] = request.url.split("/");
      if (kind === "messages") {
        return Response.json(await readMessage(sql, principal, id, messageId));
      }
      if (kind === "tree") {
        const rows = await readMessages(sql, principal, id, TREE_MAX_MESSAGES + 1);
        return Response.json({
          items: rows.slice(0, TREE_MAX_MESSAGES),
          truncated: rows.length > TREE_MAX_MESSAGES,
        });
      }
      return Response.json(await readConversation(sql, principal, id));
    },
  });
  return server.url.origin;
}

if (import.meta.main) {
  process.stdout.write(`listening on ${start(...process.argv.slice(2))}\n`);
}
