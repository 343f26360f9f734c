import { type Static, Type } from "@sinclair/typebox";
import { Chunk } from "../shared/chunk.ts";
import { CHUNK_PAGE_DEFAULT, CHUNK_PAGE_MAX } from "../shared/limits.ts";
import { PageInfo } from "../shared/page-info.ts";

export const ChunkListParams = Type.Object({
  project_reference: Type.String({ description: "The project's id or slug." }),
});

export const ChunkListQuery = Type.Object({
  limit: Type.Optional(
    Type.String({
      pattern: "^(?:[1-9][0-9]?|100)$",
      description: `The page size. Default: that of the cursor, else ${CHUNK_PAGE_DEFAULT}.`,
      errorMessage: `must be a whole number from 1 to ${CHUNK_PAGE_MAX}`,
      documentedAs: Type.Integer({ minimum: 1, maximum: CHUNK_PAGE_MAX }),
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description:
        "Continues a listing. Taken from a link in `page_info`; valid only with the same page size.",
    }),
  ),
});

export const ChunkPage = Type.Object({
  data: Type.Array(Chunk, {
    description: "The chunks in order of file path (byte order), file version and index.",
  }),
  page_info: PageInfo,
});
export type ChunkPage = Static<typeof ChunkPage>;
