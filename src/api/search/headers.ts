import type { SearchWork } from "../../engine/requests/request.ts";
import { ignoredFieldsHeader } from "../../http/ignored-fields.ts";
import type { ResponseHeader } from "../../http/operation.ts";

/** The headers of every search answer, for the documentation. */
export const searchHeaders: Readonly<Record<string, ResponseHeader>> = {
  "Server-Timing": {
    description:
      "The milliseconds that parsing the request, searching, and rendering the answer took, such " +
      "as `parse;dur=0.041, search;dur=0.180, render;dur=0.012`.",
    extension: true,
  },
  "X-Search-Plan": {
    description:
      "How the chunks were found: `exact` compared all in full precision, `scan` compared the " +
      "codes of all, `graph` walked the index; `empty`: the scope has none of this dimension.",
    extension: true,
  },
  "X-Total-Matches": {
    description:
      "`exact` when `total_matches` counts every chunk that reaches the threshold: after an exact " +
      "search and in scopes of up to about two thousand chunks. `at-least` when there may be more.",
    extension: true,
  },
  ...ignoredFieldsHeader,
};

export function setSearchHeaders(
  headers: Record<string, string>,
  { plan, countsAll, ignored, parseMs, searchMs, renderMs }: SearchWork,
): void {
  const [parse, search, render] = [parseMs.toFixed(3), searchMs.toFixed(3), renderMs.toFixed(3)];
  headers["server-timing"] = `parse;dur=${parse}, search;dur=${search}, render;dur=${render}`;
  headers["x-search-plan"] = plan;
  headers["x-total-matches"] = countsAll ? "exact" : "at-least";
  if (ignored !== "") headers["x-ignored-fields"] = ignored;
}
