import type { Static } from "@sinclair/typebox";
import { Chunk } from "../../shared/chunk.ts";
import { pageOf } from "../../shared/page-info.ts";

export const ChunkPage = pageOf(
  "ChunkPage",
  Chunk,
  "The chunks in order of file path (byte order), file version and index.",
);
export type ChunkPage = Static<typeof ChunkPage>;
