import type { Coordinator } from "../db/coordination/coordinator.ts";
import { ProjectParams } from "../domain/schemas.ts";
import { extensionHeader, type Operation, operation } from "../http/operation.ts";
import { JSON_TYPE } from "../http/respond.ts";
import { RetrieveState } from "../query/retrieve/question.ts";
import { RetrieveBody, RetrieveInput, RetrievePage } from "../query/retrieve/schema.ts";
import {
  RETRIEVAL,
  type RetrieveServices,
  retrieve,
  TOTAL_MATCHES,
} from "../query/retrieve/service.ts";
import { pageHeaders, StoredCursors } from "../query/stored-cursors.ts";

const EXAMPLE_BODY = { query: "snapshots", target: { environment: "production" }, limit: 1 };
const EXAMPLE: RetrievePage = {
  data: [
    {
      chunk: {
        id: "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55",
        file_path: "operations/backup.md",
        file_id: "0197a3c2-5d1e-7c0b-9a40-000000000001",
        file_version_id: "0197a3c2-5d1e-7c0b-9a40-000000000002",
        index: 1,
        content: "Indexes are not part of a backup: snapshots are rebuilt from the database.",
        start_offset: 212,
        end_offset: 286,
        token_count: 14,
        metadata: { headings: ["Backup and restore", "Contents of a backup"] },
      },
      score: 0.8127,
      match_type: "hybrid",
      scores: { semantic: 0.6304, keyword: 9.4127 },
      highlight: {
        text: "Indexes are not part of a backup: snapshots are rebuilt from the database.",
        matches: [[34, 43]],
      },
      title: "Backup and restore",
      heading: "Contents of a backup",
    },
  ],
  page_info: {
    self: "/projects/demo/retrieve",
    first: null,
    next: "4mUv0Zx7q1rPd9tYkLwB3nGh",
    prev: null,
  },
  search_time_ms: 0.412,
  total_matches: 3,
};

/** POST /projects/{project_reference}/retrieve. */
export function retrieveOperation(
  services: Omit<RetrieveServices, "cursors"> & { readonly coordinator: Coordinator },
): Operation {
  const cursors = new StoredCursors(services.coordinator, "retrieve", RetrieveState);
  return operation({
    id: "retrieve",
    method: "POST",
    path: "/projects/{project_reference}/retrieve",
    tag: "Search",
    summary: "Find the best chunks by text, by vector or by both",
    description:
      "Finds chunks by meaning and by words. The project's embedder embeds the query. Hits have the passage " +
      "with the offsets of the matched words, the title of their file and the nearest heading. The pages of " +
      "a cursor are one list: no hit repeats, and none scores above one of an earlier page. `group_by` answers " +
      "files with their best passages instead, and `diversity` leaves out repetitions. `like` finds chunks that " +
      "resemble a chunk or a file, with or without a query, and `unlike` leaves out those that do. `facets` counts the values " +
      "that the files of all pages have. While the " +
      "embedder does not answer, `hybrid` is answered by keyword, which `X-Retrieval` says, and `semantic` " +
      "is answered 503. A project without an embedder is searched by keyword, or by a vector that is sent.",
    extension: true,
    permission: "search.query",
    sheddable: true,
    reads: "vectors",
    params: ProjectParams,
    body: RetrieveInput,
    bodies: { [JSON_TYPE]: { schema: RetrieveBody, example: EXAMPLE_BODY } },
    response: RetrievePage,
    responseExample: EXAMPLE,
    responseHeaders: {
      ...extensionHeader(
        RETRIEVAL,
        "How it was answered: `semantic`, `keyword` or `hybrid`. It differs from the request only where " +
          "`hybrid` was answered by keyword, because the query could not be embedded.",
      ),
      ...extensionHeader(
        TOTAL_MATCHES,
        "`exact` when `total_matches` counts every hit: by keyword, and in `semantic` as in a vector " +
          "search. `at-least` when there may be more.",
      ),
      ...pageHeaders,
    },
    problems: [
      "project-not-found",
      "environment-not-found",
      "release-not-found",
      "invalid-cursor",
      "embedder-mismatch",
      "chunk-not-found",
      "file-not-found",
    ],
    handle: (call) => retrieve({ ...services, cursors }, call),
  });
}
