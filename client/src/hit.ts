import type { components } from "./types.ts";

type Hit = components["schemas"]["RetrieveHit"];

/** The text of a hit: that of its chunk, or the passage of a file without chunks, which may be its title. */
export function textOf({ chunk, highlight, title }: Hit): string {
  return chunk?.content || highlight?.text || title || "";
}
