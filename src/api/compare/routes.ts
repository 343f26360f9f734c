import { type Operation, operation } from "../../http/operation.ts";
import { type ListServices, pageRequestOf } from "../../http/pages.ts";
import { onlyPage } from "../../shared/page-info.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { SCOPE_PROBLEMS } from "../scopes/scope-query.ts";
import { Comparison, ComparisonQuery } from "./schema.ts";
import { compareScopes } from "./service.ts";

const EXAMPLE: Comparison = {
  added: 0,
  removed: 0,
  changed: 1,
  data: [
    {
      change: "changed",
      path: "docs/install.md",
      id: "1f204c6b-8a5d-4e9f-8d7c-6b5ab7c3a9de",
      title: "Install",
      base_version_id: "a9de1f20-4c6b-4a5d-8e9f-8d7c6b5ab7c3",
      version_id: "c6b8a5d0-e9f8-4d7c-a5ab-7c3a9de1f204",
    },
  ],
  page_info: onlyPage("/projects/demo/compare?base_release=v1.4.0&environment=production"),
};

/** GET /projects/{project_reference}/compare. */
export function compareOperation(services: ListServices): Operation {
  return operation({
    id: "compareScopes",
    method: "GET",
    path: "/projects/{project_reference}/compare",
    tag: "Files",
    summary: "Compare two environments or releases",
    description:
      "Counts and lists the files that differ between a base and another environment or release. An " +
      "environment with an active release is compared as that release.",
    extension: true,
    permission: "files.read",
    params: ProjectParams,
    query: ComparisonQuery,
    response: Comparison,
    responseExample: EXAMPLE,
    problems: [...SCOPE_PROBLEMS, "invalid-cursor"],
    handle(call) {
      const { principal, params, query } = call;
      const reference = params.project_reference;
      return compareScopes(services, { principal, reference, query, page: pageRequestOf(call) });
    },
  });
}
