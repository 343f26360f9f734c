import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { Problem } from "../../problem/problem.ts";
import { described, integer, ProjectParams, uuid } from "../../shared/schemas.ts";

const Params = Type.Object({
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

const EXAMPLE_DIMENSION = 768;
const EXAMPLE: Embedding = {
  chunk_id: "8a5d0e9f-8d7c-4b5a-b7c3-a9de1f204c6b",
  dimension: EXAMPLE_DIMENSION,
  vector: Buffer.from(
    Float32Array.from({ length: EXAMPLE_DIMENSION }, (_, i) => Math.sin(i + 1)).buffer,
  ).toString("base64"),
};

/** The embedding of a chunk. Throws `project-not-found`, and `chunk-not-found` for a chunk without one. */
async function getEmbedding(
  sql: Queryable,
  principal: Principal,
  { project_reference: reference, chunk_id: id }: Static<typeof Params>,
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
export function embeddingOperation(sql: Sql): Operation {
  return operation({
    id: "getChunkEmbedding",
    method: "GET",
    path: "/projects/{project_reference}/chunks/{chunk_id}/embedding",
    tag: "Chunks",
    summary: "Read the embedding of a chunk",
    description: "A search with the vector finds the chunks that are most similar to the chunk.",
    extension: true,
    permission: "chunks.read",
    params: Params,
    response: Embedding,
    responseExample: EXAMPLE,
    conditional: true,
    problems: ["validation-failed", "project-not-found", "chunk-not-found"],
    handle: ({ params, principal }) => getEmbedding(sql, principal, params),
  });
}
