import { Type } from "@sinclair/typebox";
import {
  FILTER_CONDITIONS_MAX,
  FILTER_DEPTH_MAX,
  FILTER_IN_MAX_VALUES,
  FILTER_STRING_MAX_CHARS,
} from "../limits.ts";

const EXAMPLE = {
  path: { $prefix: "blog/" },
  "frontmatter.tags": { $in: ["java", "agents"] },
  "frontmatter.draft": { $ne: true },
};

/** Documents a filter. `checkFilter` finds the faults of one. */
export const Filter = Type.Object(
  {},
  {
    title: "Filter",
    additionalProperties: true,
    description:
      "Restricts a search to matching files and chunks. The keys are `path`, `frontmatter.<key>` and " +
      "`metadata.<key>` (of a chunk; a file matches if one of its chunks does), with dots into " +
      "objects. A key has a value, or operators: `$eq`, `$ne`, `$in`, `$nin`, `$gt`, `$gte`, `$lt`, " +
      "`$lte`, `$exists`, `$prefix`, `$glob` and `$not`. `$and` and `$or` have arrays of filters, " +
      "`$not` has one. All keys and operators of an object must match. Values are strings, numbers " +
      "and booleans; a field with an array matches if an element does. At most " +
      `${FILTER_DEPTH_MAX} levels, ${FILTER_CONDITIONS_MAX} comparisons, ${FILTER_IN_MAX_VALUES} ` +
      `values in \`$in\`, and ${FILTER_STRING_MAX_CHARS} characters in a string.`,
    examples: [EXAMPLE],
    "x-tessera-extension": true,
  },
);

/** A filter in a query parameter. */
export const FilterParameter = Type.String({
  description: "A filter as JSON, which restricts the answer to matches. See the schema `Filter`.",
  examples: [JSON.stringify(EXAMPLE)],
});
