import { Type } from "@sinclair/typebox";
import { text, uuid } from "../shared/schemas.ts";

/** The fields of a chunk that every operation returns. */
export const Chunk = Type.Object(
  {
    id: uuid("The id of the chunk."),
    file_path: text("The path of its file."),
    content: text("Its text."),
    index: Type.Number({ description: "Its position among the chunks of the version, from 0." }),
    start_offset: Type.Number({ description: "Where it starts in the file." }),
    end_offset: Type.Number({ description: "Where it ends in the file." }),
    token_count: Type.Number({ description: "Its number of tokens." }),
    file_id: uuid("The id of its file."),
    file_version_id: uuid("The id of the file's version."),
  },
  { title: "Chunk", description: "A piece of a file version, as indexed." },
);
