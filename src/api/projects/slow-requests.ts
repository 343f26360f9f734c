import { type Static, Type } from "@sinclair/typebox";
import { findWritableProject } from "../../auth/project-access.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { type Operation, operation } from "../../http/operation.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { SlowRequest } from "../../observability/slow-requests.ts";
import { timestamp } from "../../shared/formats.ts";
import {
  dateTime,
  described,
  listOf,
  nullable,
  nullableText,
  ProjectParams,
  text,
} from "../../shared/schemas.ts";

const milliseconds = (description: string) => Type.Number({ minimum: 0, description });
const countOrNull = (description: string) => nullable(Type.Integer({ minimum: 0 }), description);

const SlowRequestBody = described("SlowRequest", "A search, lookup or retrieval.", {
  at: dateTime("When it was answered."),
  operation: text("The id of the operation, as in this document."),
  duration_ms: milliseconds("From receiving the request to its answer."),
  queue_ms: milliseconds("The part of it that waited for a search thread."),
  query: nullableText(
    "The first 200 characters of the query; null for a search by a vector and a list of files.",
  ),
  mode: nullableText(
    "How a lookup or a retrieval was answered: `semantic`, `keyword` or `hybrid`; null for vector searches.",
  ),
  plan: nullableText(
    "How a vector search found the chunks, as in `X-Search-Plan`; null for others.",
  ),
  estimates: countOrNull("Vectors that a search compared by their codes; null for others."),
  comparisons: countOrNull("Vectors that it compared in full precision; null for others."),
  matches: countOrNull("What a lookup or a retrieval matched; null for vector searches."),
  environment: nullableText("The environment whose working set was searched, if one."),
  release: nullableText("The release that was searched, if one."),
  request_id: text("`X-Request-Id` of the answer."),
});

const SlowRequestList = described("SlowRequestList", "The slowest requests of the last hour.", {
  data: listOf(SlowRequestBody, "Slowest first, at most 20."),
});
type SlowRequestList = Static<typeof SlowRequestList>;

const EXAMPLE: SlowRequestList = {
  data: [
    {
      at: "2026-01-06T12:00:00.000Z",
      operation: "searchEnvironment",
      duration_ms: 41.207,
      queue_ms: 3.118,
      query: null,
      mode: null,
      plan: "graph",
      estimates: 4_812,
      comparisons: 96,
      matches: null,
      environment: "production",
      release: null,
      request_id: "0b9f2f6e-8f0e-4f55-9e40-7f1f6a0c2f11",
    },
  ],
};

/** The names of the environments and releases that requests have read, by id. */
async function readNames(
  sql: Queryable,
  projectId: string,
  ids: string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM environments WHERE project_id = ${projectId} AND id = ANY (${ids})
    UNION ALL SELECT id, name FROM releases WHERE project_id = ${projectId} AND id = ANY (${ids})`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const numberOr = <T>(value: string | number | undefined, other: T): number | T =>
  typeof value === "number" ? value : other;

function slowRequestOf(
  { at, operation: id, milliseconds: duration, requestId, scope, asked, detail }: SlowRequest,
  names: ReadonlyMap<string, string>,
): Static<typeof SlowRequestBody> {
  const name = names.get(scope.id) ?? null;
  const { plan } = detail;
  return {
    at: timestamp(new Date(at)),
    operation: id,
    duration_ms: Number(duration.toFixed(3)),
    queue_ms: numberOr(detail["waitMs"], 0),
    query: asked?.query ?? null,
    mode: asked?.mode ?? null,
    plan: typeof plan === "string" ? plan : null,
    estimates: numberOr(detail["estimates"], null),
    comparisons: numberOr(detail["comparisons"], null),
    matches: numberOr(detail["matches"], null),
    environment: scope.kind === "environment" ? name : null,
    release: scope.kind === "release" ? name : null,
    request_id: requestId,
  };
}

/** GET /projects/{project_reference}/slow-requests. */
export function slowRequestsOperation({
  sql,
  metrics,
}: {
  readonly sql: Sql;
  readonly metrics: Metrics;
}): Operation {
  return operation({
    id: "listSlowRequests",
    method: "GET",
    path: "/projects/{project_reference}/slow-requests",
    tag: "Projects",
    summary: "List the slowest searches of a project",
    description:
      "The slowest searches, lookups and retrievals of the project that this server has answered within the " +
      "last hour, what they asked and what they did, which is kept in memory only. Each server behind a balancer has a list of its own, which is empty " +
      "when it starts. The caller needs the role `owner` or `editor`.",
    extension: true,
    permission: "projects.read",
    params: ProjectParams,
    response: SlowRequestList,
    responseExample: EXAMPLE,
    problems: ["permission-denied", "project-not-found"],
    async handle({ params, principal }) {
      const { id } = await findWritableProject(sql, principal, params.project_reference);
      const found = metrics.slowRequests.of(id);
      const scopes = new Set(found.map(({ scope }) => scope.id));
      const names = await readNames(sql, id, [...scopes]);
      return { data: found.map((each) => slowRequestOf(each, names)) };
    },
  });
}
