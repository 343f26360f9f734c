import { type Static, Type } from "@sinclair/typebox";
import { Chunk } from "../shared/chunk.ts";
import { PageInfo } from "../shared/page-info.ts";

export const ChunkListParams = Type.Object({
  project_reference: Type.String({
    description: "The project's id or slug.",
    examples: ["handbook"],
  }),
});

export const ChunkPage = Type.Object(
  {
    data: Type.Array(Chunk, {
      description: "The chunks in order of file path (byte order), file version and index.",
    }),
    page_info: PageInfo,
  },
  { title: "ChunkPage" },
);
export type ChunkPage = Static<typeof ChunkPage>;
