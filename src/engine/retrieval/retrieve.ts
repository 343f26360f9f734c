import type { Given } from "../../../native/retrieval.ts";
import type { Queryable } from "../../db/client.ts";
import type { Reply, RetrieveRequest } from "../requests/request.ts";
import { readGivenVersions } from "./given-versions.ts";

/**
 * The maximum number of reads of versions for one request. Each page shows the versions that were read. It needs
 * further versions only in place of hits that turned out to be duplicates.
 */
const READS_MAX = 8;

type Runs = (request: RetrieveRequest) => Reply<"retrieve"> | Promise<Reply<"retrieve">>;

/**
 * Runs a retrieval. Reads file versions from the database that the page shows and that have no chunk in memory, because
 * they have no embeddings.
 *
 * @param hits hits that another database found by vector; null if the request finds them
 */
export async function retrieve(
  run: Runs,
  sql: Queryable,
  request: RetrieveRequest,
  hits: Given["hits"] = null,
): Promise<Reply<"retrieve">> {
  const versions: Array<Given["versions"][number]> = [];
  for (let reads = 0; ; reads++) {
    if (hits !== null || versions.length > 0) request.given = { versions, hits };
    const reply = await run(request);
    if (reply.status !== "unread") return reply;
    const read = await readGivenVersions(sql, request.scope, reply.versionIds);
    if (reads === READS_MAX) throw new Error("a retrieval needs ever more versions");
    versions.push(...read, ...missing(reply.versionIds, read));
  }
}

/** Versions that were deleted meanwhile show only their ids. */
function missing(
  versionIds: readonly string[],
  read: Given["versions"],
): Array<Given["versions"][number]> {
  const known = new Set(read.map(({ id }) => id));
  return versionIds
    .filter((id) => !known.has(id))
    .map((id) => ({
      id,
      file: JSON.stringify({ id: null, path: null, version_id: id }),
      chunks: [],
      parseMs: 0,
    }));
}
