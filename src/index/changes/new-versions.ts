import { NEW_VERSIONS_CHANNEL } from "../../db/channels.ts";
import type { Sql } from "../../db/client.ts";
import type { Log } from "../../ops/observability/log.ts";

/** Receives the file versions that imports announce. A lost announcement only costs time. */
export function listenForVersions(
  sql: Sql,
  log: Log,
  announced: (projectId: string, versions: readonly string[]) => void,
): void {
  const receive = (payload: string) => {
    const [projectId = "", ...versions] = payload.split(" ");
    announced(projectId, versions);
  };
  sql.listen(NEW_VERSIONS_CHANNEL, receive).catch((err: unknown) => {
    log.warn({ err }, "cannot listen for new file versions");
  });
}
