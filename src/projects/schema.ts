import { type Static, Type } from "@sinclair/typebox";
import { STORABLE } from "../shared/formats.ts";
import { PROJECT_SLUG_MAX_CHARS } from "../shared/limits.ts";

const uuid = (description: string) => Type.String({ format: "uuid", description });
const text = (description: string) => Type.String({ description });
const moment = (description: string) => Type.String({ format: "date-time", description });
const nullableText = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Null()], { description }));
const storable = { pattern: STORABLE, errorMessage: "must be text without NUL characters" };

export const NewProject = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      pattern: STORABLE,
      description: "The project's name, for people.",
    }),
    slug: Type.String({
      minLength: 1,
      maxLength: PROJECT_SLUG_MAX_CHARS,
      pattern: "^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
      description: "The project's name in addresses, unique in the service.",
    }),
    description: Type.Optional(Type.String({ ...storable, description: "What it is for." })),
    templateSlug: Type.Optional(
      Type.String({
        ...storable,
        description: "The slug of a project to copy config, features and environments from.",
      }),
    ),
    templateProjectId: Type.Optional(
      uuid("The id of a project to copy from. Must agree with `templateSlug` when both are given."),
    ),
  },
  { description: "A project to be made." },
);
export type NewProject = Static<typeof NewProject>;

const EnvironmentSummary = Type.Object(
  {
    id: uuid("The environment's id."),
    name: text("Its name, unique in the project."),
    protected: Type.Boolean({ description: "True when it is guarded against changes." }),
    domains: Type.Array(Type.String(), { description: "The domains that it serves." }),
    environment_variables: Type.Array(Type.Unknown(), { description: "Its variables." }),
    active_release_id: Type.Optional(
      uuid("The release that it serves; absent: its own working set."),
    ),
    server_hostname: Type.Optional(text("The host that it runs on.")),
  },
  { description: "An environment in short." },
);
export type EnvironmentSummary = Static<typeof EnvironmentSummary>;

const ReleaseSummary = Type.Object(
  {
    id: uuid("The release's id."),
    name: text("Its name."),
    export_status: text("How its export stands."),
    build_status: text("How its build stands."),
    deploy_status: text("How its deployment stands."),
  },
  { description: "A release in short." },
);

const UserSummary = Type.Object(
  {
    id: text("The user's id."),
    email: Type.Optional(text("The user's address, where it is known.")),
    name: text("The user's name."),
    role: text("The user's role in the project."),
    avatar_src: text("Where the user's picture is; empty when there is none."),
  },
  { description: "A member in short." },
);
export type UserSummary = Static<typeof UserSummary>;

export const Project = Type.Object(
  {
    id: uuid("The project's id."),
    slug: text("The project's name in addresses."),
    name: text("The project's name, for people."),
    description: Type.Optional(text("What it is for.")),
    is_claimed: Type.Optional(Type.Boolean({ description: "True when it has an owner." })),
    features: Type.Optional(Type.Array(Type.String(), { description: "Features switched on." })),
    environments: Type.Optional(
      Type.Array(EnvironmentSummary, { description: "Its environments by name." }),
    ),
    releases: Type.Optional(Type.Array(ReleaseSummary, { description: "Its releases." })),
    created_at: Type.Optional(moment("When it was made.")),
    updated_at: Type.Optional(moment("When it last changed.")),
    published_at: Type.Optional(moment("When it was published; absent when it is not.")),
    prompt_count: Type.Optional(Type.Number({ description: "How many prompts it has." })),
    config: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Its configuration." }),
    ),
    provider: nullableText("Where its repository is hosted; null when nowhere."),
    layout: nullableText("How its files are laid out; null when by default."),
    users: Type.Optional(Type.Array(UserSummary, { description: "Its members." })),
  },
  { description: "A project." },
);
export type Project = Static<typeof Project>;
