import { type Static, Type } from "@sinclair/typebox";
import { Chunk } from "../../shared/chunk.ts";
import { PageInfo } from "../../shared/page-info.ts";

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
