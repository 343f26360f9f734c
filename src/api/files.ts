import { MARKDOWN_TYPE, PLAIN_TYPE } from "../content/files/change-file.ts";
import { listFiles } from "../content/files/list.ts";
import { getFile, versionTag } from "../content/files/read.ts";
import {
  ChangeHeaders,
  File,
  FileListQuery,
  FilePage,
  FileParams,
  type FileSummary,
  WorkingSetQuery,
  WriteHeaders,
  WrittenFile,
  WrittenFileParams,
} from "../content/files/schema.ts";
import { UNINDEXED_MAX_BYTES, UnindexedWrites } from "../content/files/unindexed-writes.ts";
import { deleteFile, putFile, requirePath, type WriteServices } from "../content/files/write.ts";
import { SCOPE_PROBLEMS, ScopeQuery } from "../content/scopes/scope-query.ts";
import type { Sql } from "../db/client.ts";
import { DOCUMENT_MAX_BYTES } from "../domain/limits.ts";
import { firstPage } from "../domain/page-info.ts";
import { documentPath } from "../domain/paths.ts";
import { ProjectParams, text } from "../domain/schemas.ts";
import type { ProjectEmbedders } from "../embed/embedders/project-embedders.ts";
import type { Engine } from "../engine/engine.ts";
import { extensionHeader, type Operation, operation } from "../http/operation.ts";
import type { ListServices } from "../http/pages.ts";
import { json } from "../http/respond.ts";

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
  page_info: firstPage(
    "/projects/demo/files?limit=1",
    "/projects/demo/files?limit=1&cursor=4mUv0Zx7",
  ),
};

const WRITE_PROBLEMS = [
  "validation-failed",
  "permission-denied",
  "project-not-found",
  "environment-not-found",
  "precondition-failed",
] as const;
const FILE_PATH = "/projects/{project_reference}/files/{file_reference}";
const EDITORS = "The caller needs the role `owner` or `editor`.";

/** Operations on the files of environments and releases. */
export function fileOperations(
  context: Omit<WriteServices, "unindexed"> &
    ListServices & {
      readonly engine: Engine;
      readonly embedders: ProjectEmbedders;
    },
): Operation[] {
  const services = { ...context, unindexed: new UnindexedWrites(context) };
  const { sql } = services;
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
      handle: (call) => listFiles(services, call),
    }),
    operation({
      id: "getFile",
      method: "GET",
      path: FILE_PATH,
      tag: "Files",
      summary: "Read a file",
      description:
        "The content is the text as it was stored, without the byte order mark of its file. The ETag names the version, and If-Match of a " +
        "change accepts it. A file of a release never changes, so its answer can be kept once it has chunks.",
      extension: true,
      permission: "files.read",
      params: FileParams,
      query: ScopeQuery,
      response: File,
      responseExample: EXAMPLE,
      conditional: true,
      problems: [...SCOPE_PROBLEMS, "file-not-found"],
      handle: (call) => getFile(sql, call),
    }),
    putOperation(services),
    deleteFileOperation(sql),
  ];
}

/** DELETE /projects/{project_reference}/files/{file_reference}. */
export function deleteFileOperation(sql: Sql): Operation {
  return operation({
    id: "deleteFile",
    method: "DELETE",
    path: FILE_PATH,
    tag: "Files",
    summary: "Remove a file from an environment",
    description: `Takes the file out of the working set. Releases keep it. ${EDITORS}`,
    extension: true,
    permission: "files.write",
    params: WrittenFileParams,
    query: WorkingSetQuery,
    headers: ChangeHeaders,
    status: 204,
    problems: [...WRITE_PROBLEMS, "file-not-found"],
    responseHeaders: servesHeader,
    async handle(call) {
      const serves = await deleteFile(sql, call);
      return new Response(null, { status: 204, headers: servesRelease(serves) });
    },
  });
}

/** Names the release that an environment serves, because searches of it do not show the change. */
const SERVES_RELEASE = "X-Serves-Release";

const servesHeader = extensionHeader(
  SERVES_RELEASE,
  "The name of the release that the environment serves: searches show the change once the environment serves its " +
    "working set again. Percent-encoded unless it is ASCII. Absent where the change is shown.",
);

function servesRelease(name: string | null): Record<string, string> {
  if (name === null) return {};
  return { [SERVES_RELEASE]: /^[\x20-\x7e]+$/.test(name) ? name : encodeURIComponent(name) };
}

function putOperation(services: WriteServices): Operation {
  const body = text("The content, in UTF-8.");
  return operation({
    id: "putFile",
    method: "PUT",
    path: FILE_PATH,
    tag: "Files",
    summary: "Write a file of an environment",
    description:
      "Stores the content, without a byte order mark, as a new version of the file, cut into chunks, and " +
      `puts it into the working set. While a user has written ${UNINDEXED_MAX_BYTES} bytes that searches do not show yet, ` +
      "further files of the user wait; one that has waited for too long is answered 503 `overloaded`. " +
      "Unchanged content changes nothing. Searches see the change within a second. An " +
      `environment with an active release goes on to serve that. ${EDITORS}`,
    extension: true,
    permission: "files.write",
    params: WrittenFileParams,
    query: WorkingSetQuery,
    headers: WriteHeaders,
    bodies: {
      [MARKDOWN_TYPE]: { schema: body, example: EXAMPLE.content },
      [PLAIN_TYPE]: { schema: body, example: "Run the installer.\n" },
    },
    bodyOptional: true,
    tooLargeRemedy: `Split the text into several files, or import it: a document has at most ${DOCUMENT_MAX_BYTES} bytes.`,
    mayCreate: true,
    response: WrittenFile,
    responseExample: SUMMARY,
    responseHeaders: {
      ETag: { description: "Names the version, for If-Match of the next change." },
      Location: { description: "The path of a file that was created." },
      ...servesHeader,
    },
    problems: [...WRITE_PROBLEMS, "quota-exceeded"],
    find: ({ params }) => requirePath(documentPath(params.file_reference)),
    admit: ({ principal, request }, bytes) =>
      services.unindexed.admit(principal.userId, bytes, request.signal),
    async handle(call) {
      const written = await putFile(services, call);
      void services.unindexed.untilIndexed(written).finally(call.release);
      const { file, created, serves } = written;
      const { pathname } = new URL(call.request.url);
      const location = created ? { location: call.basePath + pathname } : {};
      const headers = { etag: versionTag(file), ...location, ...servesRelease(serves) };
      return json(file, created ? 201 : 200, headers);
    },
  });
}
