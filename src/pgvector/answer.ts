import { encoded, type OwnedBytes } from "../../native/owned-bytes.ts";
import type { FoundChunk } from "./found-chunks.ts";

/** The JSON body of an answer, with the same members in the same order as the embedded engine's. */
export function renderAnswer(
  hits: readonly FoundChunk[],
  matches: number,
  selfPath: string,
  milliseconds: number,
): OwnedBytes {
  const data = hits.map(
    ({ rendered, score }) => `{"chunk":${rendered},"score":${score},"match_type":"semantic"}`,
  );
  const self = JSON.stringify(selfPath);
  const time = Math.round(milliseconds * 1_000) / 1_000;
  return encoded(
    `{"data":[${data.join(",")}],` +
      `"page_info":{"self":${self},"first":null,"next":null,"prev":null},` +
      `"search_time_ms":${time},"total_matches":${matches}}`,
  );
}
