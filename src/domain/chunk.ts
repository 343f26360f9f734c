import { described, number, text, uuid } from "./schemas.ts";

/** The fields of a chunk that every operation returns. */
export const Chunk = described("Chunk", "A piece of a file version, as indexed.", {
  id: uuid("The id of the chunk."),
  file_path: text("The path of its file."),
  content: text("Its text."),
  index: number("Its position among the chunks of the version, from 0."),
  start_offset: number("Where it starts in the file."),
  end_offset: number("Where it ends in the file."),
  token_count: number("Its number of tokens."),
  file_id: uuid("The id of its file."),
  file_version_id: uuid("The id of the file's version."),
});
