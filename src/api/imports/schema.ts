import { type Static, Type } from "@sinclair/typebox";
import { IMPORT_REPORT_ERRORS_MAX } from "../../shared/limits.ts";
import { count, described, flag, listOf, text } from "../../shared/schemas.ts";

export const ImportQuery = Type.Object({
  strict: Type.Optional(
    Type.Union([Type.Literal("true"), Type.Literal("false")], {
      description: "True to keep nothing if a single line is refused. Default: false.",
      documentedAs: Type.Boolean({ default: false }),
      examples: [true],
    }),
  ),
});

export const ImportBody = text(
  "One record per line, as `tessera import` reads them. `project` may be absent. Records of other " +
    "projects and of the kinds `user` and `api_key` are refused.",
);

const Line = Type.Integer({ minimum: 1, description: "The line, counted from 1." });

export const ImportResult = described("ImportResult", "The result of an import.", {
  lines: count("Lines that were read, without blank ones."),
  changed: count("Lines that have changed the project."),
  unchanged: count("Lines whose records were stored already, or that a strict import undid."),
  refused: count("Lines that were refused."),
  errors: listOf(
    described("ImportError", "A refused line.", {
      line: Line,
      message: text("Why it was refused."),
    }),
    `The first ${IMPORT_REPORT_ERRORS_MAX} refused lines.`,
  ),
  truncated: flag("True when more lines were refused than are listed."),
  warnings: Type.Optional(
    listOf(
      described("ImportWarning", "A line, or the first of several alike.", {
        line: Line,
        message: text("The possible fault of the record."),
      }),
      "Stored content that may not be as meant, such as frontmatter that cannot be read and is " +
        `text; of at most ${IMPORT_REPORT_ERRORS_MAX} files. Absent without any.`,
    ),
  ),
});
export type ImportResult = Static<typeof ImportResult>;
