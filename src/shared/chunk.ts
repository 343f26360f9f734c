import { Type } from "@sinclair/typebox";

/** The fields of a chunk that every operation returns. */
export const Chunk = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The id of the chunk." }),
    file_path: Type.String({ description: "The path of its file." }),
    content: Type.String({ description: "Its text." }),
    index: Type.Number({ description: "Its position among the chunks of the version, from 0." }),
    start_offset: Type.Number({ description: "Where it starts in the file." }),
    end_offset: Type.Number({ description: "Where it ends in the file." }),
    token_count: Type.Number({ description: "Its number of tokens." }),
    file_id: Type.String({ format: "uuid", description: "The id of its file." }),
    file_version_id: Type.String({ format: "uuid", description: "The id of the file's version." }),
  },
  { title: "Chunk", description: "A piece of a file version, as indexed." },
);
