import type { Sql } from "../../db/client.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { pageRequestOf } from "../../http/pages.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { listFiles } from "./list.ts";
import { getFile } from "./read.ts";
import {
  File,
  FileListQuery,
  FilePage,
  FileParams,
  FileScopeQuery,
  type FileSummary,
} from "./schema.ts";

const SUMMARY: FileSummary = {
  id: "1f204c6b-8a5d-4e9f-8d7c-6b5ab7c3a9de",
  path: "docs/install.md",
  title: "Install",
  version_id: "c6b8a5d0-e9f8-4d7c-a5ab-7c3a9de1f204",
  size: 30,
  chunk_count: 1,
  updated_at: "2026-01-05T09:30:00.000Z",
};

const EXAMPLE: File = {
  ...SUMMARY,
  content: "# Install\n\nRun the installer.\n",
  frontmatter: [],
  headings: [{ level: 1, text: "Install", start_offset: 0, end_offset: 10 }],
  chunks: [
    {
      id: "8a5d0e9f-8d7c-4b5a-b7c3-a9de1f204c6b",
      index: 0,
      start_offset: 0,
      end_offset: 29,
      token_count: 6,
    },
  ],
};

const PAGE_EXAMPLE: FilePage = {
  data: [SUMMARY],
  page_info: {
    self: "/projects/handbook/files?limit=1",
    first: null,
    next: "/projects/handbook/files?limit=1&cursor=4mUv0Zx7",
    prev: null,
  },
};

/** The problems of naming a place where files are. */
const SCOPE_PROBLEMS = [
  "validation-failed",
  "project-not-found",
  "environment-not-found",
  "release-not-found",
] as const;

/** Operations on the files of environments and releases. */
export function fileOperations(services: { sql: Sql; cursors: CursorSigner }): Operation[] {
  const { sql, cursors } = services;
  return [
    operation({
      id: "listFiles",
      method: "GET",
      path: "/projects/{project_reference}/files",
      tag: "Files",
      summary: "List the files of an environment or a release",
      extension: true,
      permission: "files.read",
      params: ProjectParams,
      query: FileListQuery,
      response: FilePage,
      responseExample: PAGE_EXAMPLE,
      problems: [...SCOPE_PROBLEMS, "invalid-cursor"],
      handle(call) {
        const { principal, params, query } = call;
        const reference = params.project_reference;
        const page = pageRequestOf(call);
        return listFiles(sql, cursors, { principal, reference, query, page });
      },
    }),
    operation({
      id: "getFile",
      method: "GET",
      path: "/projects/{project_reference}/files/{file_reference}",
      tag: "Files",
      summary: "Read a file",
      description:
        "The content is exactly what was stored. The ETag names the version, and If-Match of a " +
        "change accepts it. A file of a release never changes, so its answer can be kept.",
      extension: true,
      permission: "files.read",
      params: FileParams,
      query: FileScopeQuery,
      response: File,
      responseExample: EXAMPLE,
      conditional: true,
      problems: [...SCOPE_PROBLEMS, "file-not-found"],
      handle: (call) => getFile(sql, call),
    }),
  ];
}
