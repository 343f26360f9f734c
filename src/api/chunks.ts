import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../auth/principal.ts";
import { findProject } from "../auth/project-access.ts";
import { type ChunkPosition, type ChunkRow, readChunks } from "../content/chunks.ts";
import type { Queryable, Sql } from "../db/client.ts";
import { Chunk } from "../domain/chunk.ts";
import { LISTED_MAX_BYTES } from "../domain/limits.ts";
import { firstPage, pageOf } from "../domain/page-info.ts";
import { Problem } from "../domain/problem/problem.ts";
import { described, integer, ProjectParams, uuid } from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery, type ProjectListCall, readListing } from "../http/pages.ts";

const EMBEDDING_EXAMPLE_DIMENSION = 768;

const ChunkPage = pageOf(
  "ChunkPage",
  Chunk,
  "The chunks in order of file path (byte order), file version and index.",
);
type ChunkPage = Static<typeof ChunkPage>;

/** One page of a project's chunks. Throws `project-not-found` and `invalid-cursor`. */
async function listChunks(
  { sql, cursors }: ListServices,
  call: ProjectListCall,
): Promise<ChunkPage> {
  const projectId = await findProject(sql, call.principal, call.params.project_reference);
  return await readListing(cursors, call, {
    binding: `chunks:${projectId}`,
    keyOf: (row: ChunkRow): ChunkPosition => [row.file_path, row.file_version_id, row.index],
    read: (range) => readChunks(sql, projectId, range),
    isCut: (rows) => rows.length < (rows[0]?.found ?? 0),
    itemOf: ({ found: _, ...chunk }) => chunk,
  });
}

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

const EmbeddingParams = Type.Object({
  ...ProjectParams.properties,
  chunk_id: uuid("The id of the chunk.", "8a5d0e9f-8d7c-4b5a-b7c3-a9de1f204c6b"),
});

const Embedding = described("ChunkEmbedding", "The embedding of a chunk.", {
  chunk_id: uuid("The id of the chunk."),
  dimension: integer("The number of elements of the vector."),
  vector: Type.String({
    contentEncoding: "base64",
    description: "The vector as base64 of little-endian float32, as a search accepts it.",
  }),
});
type Embedding = Static<typeof Embedding>;

const EMBEDDING_EXAMPLE: Embedding = {
  chunk_id: "8a5d0e9f-8d7c-4b5a-b7c3-a9de1f204c6b",
  dimension: EMBEDDING_EXAMPLE_DIMENSION,
  vector: Buffer.from(
    Float32Array.from({ length: EMBEDDING_EXAMPLE_DIMENSION }, (_, i) => Math.sin(i + 1)).buffer,
  ).toString("base64"),
};

/** The embedding of a chunk. Throws `project-not-found`, and `chunk-not-found` for a chunk without one. */
async function getEmbedding(
  sql: Queryable,
  principal: Principal,
  { project_reference: reference, chunk_id: id }: Static<typeof EmbeddingParams>,
): Promise<Embedding> {
  const projectId = await findProject(sql, principal, reference);
  const [row] = await sql<{ id: string; dimension: number; embedding: Buffer }[]>`
    SELECT id, dimension, embedding FROM chunks
    WHERE id = ${id} AND project_id = ${projectId} AND embedding IS NOT NULL`;
  if (row === undefined) throw new Problem("chunk-not-found");
  const { dimension, embedding } = row;
  return { chunk_id: row.id, dimension, vector: embedding.toString("base64") };
}

/** GET /projects/{project_reference}/chunks/{chunk_id}/embedding. */
function embeddingOperation(sql: Sql): Operation {
  return operation({
    id: "getChunkEmbedding",
    method: "GET",
    path: "/projects/{project_reference}/chunks/{chunk_id}/embedding",
    tag: "Chunks",
    summary: "Read the embedding of a chunk",
    description: "A search with the vector finds the chunks that are most similar to the chunk.",
    extension: true,
    permission: "chunks.read",
    params: EmbeddingParams,
    response: Embedding,
    responseExample: EMBEDDING_EXAMPLE,
    conditional: true,
    problems: ["validation-failed", "project-not-found", "chunk-not-found"],
    handle: ({ params, principal }) => getEmbedding(sql, principal, params),
  });
}

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
      handle: (call) => listChunks(services, call),
    }),
    embeddingOperation(sql),
  ];
}
