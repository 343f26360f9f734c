import { Type } from "@sinclair/typebox";

/** What every operation tells of a chunk. */
export const Chunk = Type.Object(
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
