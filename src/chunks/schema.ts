import { type Static, Type } from "@sinclair/typebox";
import { PageInfo } from "../http/page-info.ts";
import { CHUNK_PAGE_DEFAULT, CHUNK_PAGE_MAX } from "../limits.ts";

export const ChunkListParams = Type.Object({
  project_reference: Type.String({ description: "The project's id or slug." }),
});

export const ChunkListQuery = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: "^(?:[1-9][0-9]?|100)$",
      description: `The page size; ${CHUNK_PAGE_DEFAULT} where left out, or the cursor's.`,
      errorMessage: `must be a whole number from 1 to ${CHUNK_PAGE_MAX}`,
      documentedAs: Type.Integer({ minimum: 1, maximum: CHUNK_PAGE_MAX }),
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description:
        "Where to go on, as a link of `page_info` gave it. Good with its page size only.",
    }),
  ),
});

const Chunk = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The chunk's id." }),
    file_path: Type.String({ description: "The path of its file." }),
    file_id: Type.String({ format: "uuid", description: "Its file's id." }),
    file_version_id: Type.String({ format: "uuid", description: "The version of the file." }),
    index: Type.Number({ description: "Its number among the chunks of the version, from 0." }),
    content: Type.String({ description: "Its text." }),
    start_offset: Type.Number({ description: "Where it starts in the file." }),
    end_offset: Type.Number({ description: "Where it ends in the file." }),
    token_count: Type.Number({ description: "How many tokens it has." }),
  },
  { description: "A piece of a file version, as indexed." },
);

export const ChunkPage = Type.Object({
  data: Type.Array(Chunk, {
    description: "The chunks by file path (byte order), file version and index.",
  }),
  page_info: PageInfo,
});
export type ChunkPage = Static<typeof ChunkPage>;
