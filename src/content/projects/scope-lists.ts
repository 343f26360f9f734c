import type { Static } from "@sinclair/typebox";
import { findProject } from "../../auth/project-access.ts";
import { onlyPage, pageOf } from "../../domain/page-info.ts";
import { withTimes } from "../../domain/rows.ts";
import { ProjectParams } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { type ListServices, PageQuery, readListing } from "../../http/pages.ts";
import {
  type EnvironmentPosition,
  type ListedEnvironment,
  type ListedRelease,
  listEnvironments,
  type ReleasePosition,
  readReleases,
} from "./contents.ts";
import { EnvironmentItem, ReleaseItem } from "./schema.ts";

const EnvironmentPage = pageOf(
  "EnvironmentPage",
  EnvironmentItem,
  "The environments in order of name.",
);

const ReleasePage = pageOf("ReleasePage", ReleaseItem, "The releases, newest first.");

const ENVIRONMENTS_EXAMPLE: Static<typeof EnvironmentPage> = {
  data: [
    {
      id: "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
      name: "production",
      active_release: "v1.4.0",
      files: 72,
      protected: false,
    },
  ],
  page_info: onlyPage("/projects/demo/environments"),
};

const RELEASES_EXAMPLE: Static<typeof ReleasePage> = {
  data: [
    {
      id: "5e4f3a2b-1c0d-4e8f-9a7b-6c5d4e3f2a1b",
      name: "v1.4.0",
      files: 72,
      created_at: "2026-01-05T09:30:00.000Z",
      frozen_at: "2026-01-05T09:30:00.000Z",
      environments: ["production"],
    },
  ],
  page_info: onlyPage("/projects/demo/releases"),
};

const releaseOf = ({ place: _, ...row }: ListedRelease) => withTimes(row);

const COMMON = {
  method: "GET",
  tag: "Projects",
  extension: true,
  permission: "projects.read",
  params: ProjectParams,
  query: PageQuery,
  problems: ["project-not-found", "invalid-cursor"],
} as const;

/** Lists of the environments and the releases of a project. */
export function scopeListOperations({ sql, cursors }: ListServices): Operation[] {
  return [
    operation({
      ...COMMON,
      id: "listEnvironments",
      path: "/projects/{project_reference}/environments",
      summary: "List the environments of a project",
      response: EnvironmentPage,
      responseExample: ENVIRONMENTS_EXAMPLE,
      async handle(call) {
        const id = await findProject(sql, call.principal, call.params.project_reference);
        return await readListing(cursors, call, {
          binding: `environments:${id}`,
          keyOf: ({ name }: ListedEnvironment): EnvironmentPosition => [name],
          read: (range) => listEnvironments(sql, id, range),
          itemOf: (row) => row,
        });
      },
    }),
    operation({
      ...COMMON,
      id: "listReleases",
      path: "/projects/{project_reference}/releases",
      summary: "List the releases of a project",
      response: ReleasePage,
      responseExample: RELEASES_EXAMPLE,
      async handle(call) {
        const id = await findProject(sql, call.principal, call.params.project_reference);
        return await readListing(cursors, call, {
          binding: `releases:${id}`,
          keyOf: ({ place, name }: ListedRelease): ReleasePosition => [place, name],
          read: (range) => readReleases(sql, id, range),
          itemOf: releaseOf,
        });
      },
    }),
  ];
}
