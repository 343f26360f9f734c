import { type Static, Type } from "@sinclair/typebox";
import { PageQuery } from "../../http/pages.ts";
import { PageInfo } from "../../shared/page-info.ts";
import { count, nullable, oneOf, text, uuid } from "../../shared/schemas.ts";
import { ScopeQuery } from "../scopes/scope-query.ts";

const { environment, release } = ScopeQuery.properties;

export const ComparisonQuery = Type.Object({
  base_environment: Type.Optional({
    ...environment,
    description:
      "The environment to compare with, by name, with the same default as `environment`.",
  }),
  base_release: Type.Optional({
    ...release,
    description: "The release to compare with, by name or id, instead of an environment.",
  }),
  environment,
  release,
  ...PageQuery.properties,
});
export type ComparisonQuery = Static<typeof ComparisonQuery>;

export const FileChange = Type.Object(
  {
    id: uuid("The file's id."),
    path: text("The path of the file."),
    title: text("The title of the version, of a removed file that of the base's version."),
    change: oneOf(
      ["added", "removed", "changed"],
      "`added` if the base lacks the file, `removed` if only the base has it, `changed` if the " +
        "versions differ.",
    ),
    base_version_id: nullable(
      uuid("A version."),
      "The version of the base; null for an added file.",
    ),
    version_id: nullable(
      uuid("A version."),
      "The version compared with it; null for a removed file.",
    ),
  },
  {
    title: "FileChange",
    description: "A file that two environments or releases have differently.",
  },
);
export type FileChange = Static<typeof FileChange>;

export const Comparison = Type.Object(
  {
    added: count("Files that the base lacks."),
    removed: count("Files that only the base has."),
    changed: count("Files of which both have different versions."),
    data: Type.Array(FileChange, { description: "These files in order of path." }),
    page_info: PageInfo,
  },
  { title: "Comparison", description: "The differences between two environments or releases." },
);
export type Comparison = Static<typeof Comparison>;
