import type { ScopeResolver } from "../content/scopes/resolver.ts";
import type { Coordinator } from "../db/coordination/coordinator.ts";
import { firstPage } from "../domain/page-info.ts";
import { ProjectParams } from "../domain/schemas.ts";
import type { Engine } from "../engine/engine.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import { LookupState } from "../query/lookup/question.ts";
import { LookupBody, LookupPage } from "../query/lookup/schema.ts";
import { lookUp } from "../query/lookup/service.ts";
import { pageHeaders, StoredCursors } from "../query/stored-cursors.ts";

const EXAMPLE: LookupPage = {
  query: "snapshots",
  mode: "search",
  data: [
    {
      path: "operations/backup.md",
      matched_fields: ["headings", "content"],
      frontmatter: [{ key: "title", value: "Backup and restore" }],
      title: "Backup and restore",
      snippet: {
        text: "Indexes are not part of a backup: snapshots are rebuilt from the database.",
        matches: [[34, 43]],
      },
      score: 9.4127,
    },
  ],
  page_info: firstPage("/projects/demo/knowledge/lookup", "4mUv0Zx7q1rPd9tYkLwB3nGh"),
  returned: 1,
  total_matches: 3,
  shard: { shard_index: 0, shard_count: 1, total_items: 61 },
};

/** Lookup of project knowledge by text. */
export function knowledgeOperations(services: {
  readonly scopes: ScopeResolver;
  readonly coordinator: Coordinator;
  readonly engine: Engine;
  readonly metrics: Metrics;
}): Operation[] {
  const cursors = new StoredCursors(services.coordinator, "lookup", LookupState);
  return [
    operation({
      id: "lookUpKnowledge",
      method: "POST",
      path: "/projects/{project_reference}/knowledge/lookup",
      tag: "Knowledge",
      summary: "Look up project knowledge by text",
      description:
        "Finds Markdown files by path, title, headings, frontmatter and content. Tolerates one typo " +
        "per word of four or more letters, and matches the last word as a prefix. Without a query, " +
        "lists all items in path order.",
      permission: "knowledge.lookup",
      sheddable: true,
      reads: "texts",
      params: ProjectParams,
      body: LookupBody,
      bodyOptional: true,
      bodyExample: { query: "snapshots", lookup_target: { environment: "production" }, limit: 1 },
      response: LookupPage,
      responseExample: EXAMPLE,
      responseHeaders: pageHeaders,
      problems: [
        "project-not-found",
        "environment-not-found",
        "release-not-found",
        "invalid-cursor",
      ],
      handle: (call) => lookUp({ ...services, cursors }, call),
    }),
  ];
}
