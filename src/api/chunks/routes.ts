import { type Operation, operation } from "../../http/operation.ts";
import { type ListServices, PageQuery, pageRequestOf } from "../../http/pages.ts";
import { LISTED_MAX_BYTES } from "../../shared/limits.ts";
import { firstPage } from "../../shared/page-info.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { embeddingOperation } from "./embedding.ts";
import { ChunkPage } from "./schema.ts";
import { listChunks } from "./service.ts";

const EXAMPLE: ChunkPage = {
  data: [
    {
      id: "8a5d0e9f-8d7c-4b5a-b7c3-a9de1f204c6b",
      file_path: "docs/install.md",
      file_id: "1f204c6b-8a5d-4e9f-8d7c-6b5ab7c3a9de",
      file_version_id: "c6b8a5d0-e9f8-4d7c-a5ab-7c3a9de1f204",
      index: 0,
      content: "# Install\n\nRun the installer.",
      start_offset: 0,
      end_offset: 29,
      token_count: 8,
    },
  ],
  page_info: firstPage(
    "/projects/demo/chunks?limit=1",
    "/projects/demo/chunks?limit=1&cursor=4mUv0Zx7",
  ),
};

/** Operations that read chunks, for administration and debugging. */
export function chunkOperations(services: ListServices): Operation[] {
  const { sql } = services;
  return [
    operation({
      id: "listChunks",
      method: "GET",
      path: "/projects/{project_reference}/chunks",
      tag: "Chunks",
      summary: "List the indexed chunks of a project",
      description: `A page has fewer chunks than \`limit\`, one at least, if their texts have more than ${LISTED_MAX_BYTES} bytes.`,
      permission: "chunks.read",
      params: ProjectParams,
      query: PageQuery,
      response: ChunkPage,
      responseExample: EXAMPLE,
      problems: ["project-not-found", "invalid-cursor"],
      handle(call) {
        const reference = call.params.project_reference;
        return listChunks(services, call.principal, { reference, page: pageRequestOf(call) });
      },
    }),
    embeddingOperation(sql),
  ];
}
