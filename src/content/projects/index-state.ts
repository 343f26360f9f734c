import { type Static, Type } from "@sinclair/typebox";
import { findProject } from "../../auth/project-access.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { timestamp } from "../../domain/formats.ts";
import {
  count,
  dateTime,
  described,
  flag,
  listOf,
  nullable,
  ProjectParams,
  text,
  uuid,
} from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { ChangeLog } from "../../index/changes/change-log.ts";
import {
  isComplete,
  PARKED_TOLD_SECONDS,
  readIndexReports,
  readParkedTasks,
} from "../../index/changes/index-state.ts";
import { countFailures, FAILURES_LISTED_MAX, readFailures } from "../embeddings/queue/failures.ts";
import { countWaiting } from "../embeddings/queue/queries.ts";
import { countRebuilding } from "../embeddings/rebuild-requests.ts";
import { announceProject } from "../import/put/announce.ts";

const EmbeddingFailure = described("EmbeddingFailure", "A chunk at which its embedder fails.", {
  file: Type.Object(
    {
      id: uuid("Its id."),
      path: text("Its path."),
    },
    { description: "The file of the chunk." },
  ),
  chunk: Type.Object(
    {
      id: uuid("Its id."),
      index: count("Its position in the file."),
    },
    { description: "The chunk." },
  ),
  reason: text("The fault, without the embedder's answer."),
  attempts: Type.Integer({ minimum: 1, description: "How often it was tried." }),
  retry_at: dateTime("When it is tried again."),
});

const ParkedTask = described("ParkedTask", "A task of the index that is not tried for a while.", {
  task: text(
    "The task that failed: `ensure` loads a scope; `match`, `members` and `fields` read it.",
  ),
  failures: Type.Integer({ minimum: 1, description: "How often it was parked." }),
  parked_at: dateTime("When it was parked last."),
});

const IndexState = described("IndexState", "The state of a project's indexes.", {
  complete: flag(
    "True when every server in `data` has applied all changes of the project, and its graphs are " +
      "built and calibrated. False while no server has loaded the project: a search loads it, and so does reading " +
      "this state where projects are loaded ahead. Load tests begin when it is true.",
  ),
  data: listOf(
    described("ServerIndex", "An index of the project on one server.", {
      server: uuid("The server's id, new at each start."),
      dimension: nullable(
        Type.Integer(),
        "The dimension of the vectors; null for the index of texts, which has the chunks without vectors.",
      ),
      vectors: count("Vectors in the index; 0 for texts."),
      graph_backlog: count(
        "Vectors that are not in the graph yet, which searches find by scanning. 0: the graph is " +
          "complete, or the index is too small to need one.",
      ),
      documents: count("Documents in the index of texts; 0 for vectors."),
      memory_bytes: count("Memory of the index and its chunks, in bytes."),
      pending_changes: count("Changes of the project that searches do not see yet."),
      recall: nullable(
        Type.Number({ minimum: 0, maximum: 1 }),
        "Share of the true best results that recent searches found; null before it was measured. Searches " +
          "are divided into quarters by the score of their best result, and the lowest recall counts.",
      ),
      recall_samples: count("Searches that `recall` was measured on."),
      complete: flag(
        "True when the server has applied all changes, and the graph is built and calibrated.",
      ),
      updated_at: dateTime("When the server reported this, which it does every few seconds."),
    }),
    "By server and dimension, texts first. Empty: no server has it loaded.",
  ),
  applied_sequence: nullable(
    Type.Integer({ minimum: 0 }),
    "The position in the change log up to which searches on all servers see the project; null " +
      "while no server has loaded it, or one is loading it.",
  ),
  last_sequence: nullable(
    Type.Integer({ minimum: 1 }),
    "The position of the last change of the project; null when the log has no entry, because old " +
      "entries are deleted.",
  ),
  embeddings_waiting: count(
    "Files with chunks that wait for their embeddings, those of `embeddings_failed` included. While the chunks of the " +
      "project are embedded again, also the files with chunks that lack a new embedding, and at least 1.",
  ),
  embeddings_failed: count(
    "Chunks at which the embedder fails although it embeds others. Each is tried again after a pause " +
      "that grows; `tessera embeddings rebuild --failed` tries them at once.",
  ),
  embedding_failures: listOf(
    EmbeddingFailure,
    `The first ${FAILURES_LISTED_MAX} of them, by file and chunk.`,
  ),
  parked_tasks: listOf(
    ParkedTask,
    "Tasks of the project's index that failed twice in a row within the last " +
      `${PARKED_TOLD_SECONDS / 60} minutes, by name. After each time searches of the project are answered ` +
      "503 for some seconds; the log of the service says why.",
  ),
  last_changed_at: nullable(
    Type.String({ format: "date-time" }),
    "When its files, environments or releases last changed; null when `last_sequence` is.",
  ),
});
export type IndexState = Static<typeof IndexState>;

const EXAMPLE: IndexState = {
  complete: false,
  applied_sequence: 1_204,
  last_sequence: 1_204,
  last_changed_at: "2026-01-06T11:58:00.000Z",
  embeddings_waiting: 1,
  embeddings_failed: 1,
  embedding_failures: [
    {
      file: { id: "0b9d8c7e-6f5a-4b3c-8d2e-1f0a9b8c7d6e", path: "guides/tables.md" },
      chunk: { id: "3c2b1a09-8f7e-4d6c-9b5a-4e3f2d1c0b9a", index: 4 },
      reason: "the embedder e5 answered 500",
      attempts: 2,
      retry_at: "2026-01-06T12:01:00.000Z",
    },
  ],
  parked_tasks: [{ task: "ensure", failures: 2, parked_at: "2026-01-06T11:59:00.000Z" }],
  data: [
    {
      server: "5b2f4c1e-7d3a-4e6b-9c8d-1f0a2b3c4d5e",
      dimension: 768,
      vectors: 81_920,
      graph_backlog: 16_384,
      documents: 0,
      memory_bytes: 60_817_408,
      pending_changes: 0,
      recall: 0.9971,
      recall_samples: 412,
      complete: false,
      updated_at: "2026-01-06T12:00:00.000Z",
    },
  ],
};

/** The reports of running servers about a project's indexes. */
export async function readIndexState(sql: Queryable, projectId: string): Promise<IndexState> {
  // The counts come before the reports, which lack the changes of embeddings that are stored in between. The files
  // that a rebuild has not embedded count as waiting once it ends.
  const rebuilding = await countRebuilding(sql, projectId);
  const waiting = rebuilding + (await countWaiting(sql, projectId));
  const last = await new ChangeLog(sql).newest({ projects: [projectId] });
  const reports = (await readIndexReports(sql, projectId)).filter(({ fresh }) => fresh);
  const data = reports.map((report) => ({
    server: report.server,
    dimension: report.dimension === 0 ? null : report.dimension,
    vectors: report.vectors,
    graph_backlog: report.vectors - report.graphed,
    documents: report.documents,
    memory_bytes: report.bytes,
    pending_changes: report.pending,
    recall: report.recall,
    recall_samples: report.samples ?? 0,
    complete: isComplete(report),
    updated_at: timestamp(report.updatedAt),
  }));
  // A server that is still loading the project has reached no position yet.
  const applied = Math.min(...reports.map(({ seq }) => seq));
  return {
    complete: data.length > 0 && data.every((index) => index.complete),
    applied_sequence: reports.length === 0 || applied < 0 ? null : applied,
    last_sequence: last.seq || null,
    last_changed_at: last.seq === 0 ? null : timestamp(new Date(last.at)),
    embeddings_waiting: waiting,
    embeddings_failed: await countFailures(sql, projectId),
    embedding_failures: (await readFailures(sql, projectId)).map((failure) => ({
      file: { id: failure.fileId, path: failure.path },
      chunk: { id: failure.chunkId, index: failure.index },
      reason: failure.reason,
      attempts: failure.attempts,
      retry_at: timestamp(failure.retryAt),
    })),
    parked_tasks: (await readParkedTasks(sql, projectId)).map(({ task, failures, parkedAt }) => ({
      task,
      failures,
      parked_at: timestamp(parkedAt),
    })),
    data,
  };
}

/** GET /projects/{project_reference}/index-state. */
export function indexStateOperation(sql: Sql): Operation {
  return operation({
    id: "getIndexState",
    method: "GET",
    path: "/projects/{project_reference}/index-state",
    tag: "Projects",
    summary: "Read the state of a project's indexes",
    description:
      "Every running server that has loaded the project reports its indexes: their size, recall, and " +
      "the changes that are not searchable yet. Servers that stopped reporting are left out. " +
      "`complete` answers whether the index is whole: poll until it is true before a measurement. A " +
      "server reports every few seconds, so the answer may be late, but it is never early.",
    extension: true,
    permission: "projects.read",
    reads: "reports",
    params: ProjectParams,
    response: IndexState,
    responseExample: EXAMPLE,
    problems: ["project-not-found"],
    async handle({ params, principal }) {
      const projectId = await findProject(sql, principal, params.project_reference);
      const state = await readIndexState(sql, projectId);
      // A client that polls until the index is complete would wait forever for a project without searches.
      if (state.data.length === 0) await announceProject(sql, projectId);
      return state;
    },
  });
}
