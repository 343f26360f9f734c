import { type Static, Type } from "@sinclair/typebox";
import { ROLES } from "../../auth/roles.ts";
import { REFERENCE_MAX_CHARS } from "../../shared/limits.ts";
import { PageInfo } from "../../shared/page-info.ts";
import { ProjectParams, storable } from "../../shared/schemas.ts";

export const MemberParams = Type.Object({
  ...ProjectParams.properties,
  user_id: Type.String({
    pattern: storable.pattern,
    maxLength: REFERENCE_MAX_CHARS,
    errorMessage: `must be the id or the email address of a user, of at most ${REFERENCE_MAX_CHARS} characters`,
    description:
      "The id of the user, or their email address, percent-encoded where necessary. Users who sign in " +
      "with tokens are known once they have changed something.",
    examples: ["grace@example.com"],
  }),
});

export const MemberChange = Type.Object(
  {
    role: Type.Union(
      ROLES.map((role) => Type.Literal(role)),
      {
        description:
          "`owner`s change everything, `editor`s the contents, and a `member` reads the project.",
        errorMessage: `must be one of ${ROLES.join(", ")}`,
      },
    ),
  },
  { title: "MemberChange", description: "The role of a member." },
);
export type MemberChange = Static<typeof MemberChange>;

export const ProjectMember = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The user's id." }),
    email: Type.Optional(Type.String({ description: "The user's email address, if known." })),
    name: Type.String({ description: "The user's name; empty if it is not known." }),
    role: Type.String({
      description:
        "`owner`, `editor` or `member`. Members that were imported may have others, which only read.",
    }),
    since: Type.String({
      format: "date-time",
      description: "When the user became a member.",
    }),
  },
  { title: "ProjectMember", description: "A user's membership of a project." },
);
export type ProjectMember = Static<typeof ProjectMember>;

export const MemberPage = Type.Object(
  {
    data: Type.Array(ProjectMember, {
      description: "The members of the project, owners first, by email address.",
    }),
    page_info: PageInfo,
  },
  { title: "MemberPage" },
);
export type MemberPage = Static<typeof MemberPage>;
