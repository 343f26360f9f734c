import { type Static, Type } from "@sinclair/typebox";
import {
  IMPORT_NAME_MAX_CHARS,
  PROJECT_MEMBERS_MAX,
  PROJECT_RELEASES_MAX,
  PROJECT_SLUG_MAX_CHARS,
} from "../../shared/limits.ts";
import { pageOf } from "../../shared/page-info.ts";
import { count, dateTime, nullable, nullableText, text, uuid } from "../../shared/schemas.ts";

const EMBEDDER_NAME_MAX_CHARS = 63;

const EmbedderName = Type.String({
  minLength: 1,
  maxLength: EMBEDDER_NAME_MAX_CHARS,
  examples: ["hashing"],
  description:
    "The name of the embedder that embeds the project's files and queries: `hashing`, which is built in " +
    "and meant for demonstrations, or one of the operator's.",
  "x-tessera-extension": true,
});

export const NewProject = Type.Object(
  {
    name: Type.String({ minLength: 1, description: "The display name." }),
    slug: Type.String({
      minLength: 1,
      maxLength: PROJECT_SLUG_MAX_CHARS,
      pattern: "^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$",
      description: "The name in URLs, unique within the service.",
    }),
    description: Type.Optional(text("A description of the project.")),
    embedder: Type.Optional(EmbedderName),
    templateSlug: Type.Optional(
      text("The slug of a project to copy config, features and environments from."),
    ),
    templateProjectId: Type.Optional(
      uuid("The id of a project to copy from. It must match `templateSlug` when both are given."),
    ),
  },
  { title: "NewProject", description: "A project to create." },
);
export type NewProject = Static<typeof NewProject>;

export const ProjectChange = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, description: "The display name." })),
    description: Type.Optional(text("A description of the project.")),
    embedder: Type.Optional(EmbedderName),
  },
  { title: "ProjectChange", description: "What is to be changed; absent fields stay." },
);
export type ProjectChange = Static<typeof ProjectChange>;

export const DeletionQuery = Type.Object({
  confirm: Type.String({
    description: "The slug of the project, so that no other one is deleted by mistake.",
    examples: ["demo"],
  }),
});

const scopeName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: IMPORT_NAME_MAX_CHARS,
    errorMessage: `must be text of 1 to ${IMPORT_NAME_MAX_CHARS} characters`,
    description,
  });

export const NewRelease = Type.Object(
  {
    name: scopeName("The name of the release, unique within the project."),
    environment: scopeName("The environment whose working set the release freezes."),
  },
  { title: "NewRelease", description: "A release to create." },
);
export type NewRelease = Static<typeof NewRelease>;

export const EnvironmentChange = Type.Object(
  {
    active_release: Type.Union([scopeName("The name of a release."), Type.Null()], {
      description: "The release that the environment serves; null for its working set.",
      errorMessage: "must be the name of a release, or null",
    }),
  },
  { title: "EnvironmentChange", description: "What an environment is to serve." },
);
export type EnvironmentChange = Static<typeof EnvironmentChange>;

export const EnvironmentSummary = Type.Object(
  {
    id: uuid("The environment's id."),
    name: text("The environment's name, unique within the project."),
    protected: Type.Boolean({
      description: "True when the environment is protected against changes.",
    }),
    domains: Type.Array(Type.String(), { description: "The domains of the environment." }),
    environment_variables: Type.Array(Type.Unknown(), {
      description: "The environment variables.",
    }),
    active_release_id: Type.Optional(
      uuid("The release that the environment serves. Without one, it serves its working set."),
    ),
    server_hostname: Type.Optional(text("The host that the environment runs on.")),
  },
  { title: "Environment", description: "A summary of an environment." },
);

export const ReleaseSummary = Type.Object(
  {
    id: uuid("The release's id."),
    name: text("The release's name."),
    export_status: text("The status of the export."),
    build_status: text("The status of the build."),
    deploy_status: text("The status of the deployment."),
  },
  { title: "Release", description: "A summary of a release." },
);

const UserSummary = Type.Object(
  {
    id: text("The user's id."),
    name: text("The user's name."),
    email: Type.Optional(text("The user's email address, if known.")),
    role: text("The user's role in the project."),
    avatar_src: text("The URL of the user's picture; empty when there is none."),
  },
  { title: "Member", description: "A summary of a member." },
);

export const Project = Type.Object(
  {
    id: uuid("The project's id."),
    slug: text("The name in URLs."),
    name: text("The display name."),
    description: Type.Optional(text("A description of the project.")),
    embedder: Type.Optional(
      Type.String({
        description: "The name of the project's embedder. Absent without one.",
        "x-tessera-extension": true,
      }),
    ),
    environments: Type.Optional(
      Type.Array(EnvironmentSummary, { description: "The environments in order of name." }),
    ),
    releases: Type.Optional(
      Type.Array(ReleaseSummary, {
        description: `The newest ${PROJECT_RELEASES_MAX} releases, the newest first.`,
      }),
    ),
    users: Type.Optional(
      Type.Array(UserSummary, {
        description: `The members, owners first, at most ${PROJECT_MEMBERS_MAX}.`,
      }),
    ),
    features: Type.Optional(Type.Array(Type.String(), { description: "The enabled features." })),
    config: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "The project's configuration." }),
    ),
    is_claimed: Type.Optional(Type.Boolean({ description: "True when the project has an owner." })),
    prompt_count: Type.Optional(Type.Number({ description: "The number of prompts." })),
    provider: Type.Optional(
      nullableText("The host of the project's repository; null when there is none."),
    ),
    layout: Type.Optional(nullableText("The layout of the files; null for the default.")),
    created_at: Type.Optional(dateTime("When the project was created.")),
    updated_at: Type.Optional(dateTime("When the project last changed.")),
    published_at: Type.Optional(
      dateTime("When the project was published. Absent when it is not published."),
    ),
  },
  { title: "Project", description: "A project." },
);
export type Project = Static<typeof Project>;

export const ProjectPage = pageOf(
  "ProjectPage",
  Project,
  "The caller's projects in order of slug.",
);
export type ProjectPage = Static<typeof ProjectPage>;

export type EnvironmentSummary = Static<typeof EnvironmentSummary>;
export type ReleaseSummary = Static<typeof ReleaseSummary>;

export const EnvironmentItem = Type.Object(
  {
    id: uuid("The environment's id."),
    name: text("The environment's name, unique within the project."),
    active_release: nullableText(
      "The name of the release that it serves; null for its working set.",
    ),
    files: count("Files of its working set."),
    protected: Type.Boolean({
      description: "True when the environment is protected against changes.",
    }),
  },
  { title: "EnvironmentItem", description: "An environment in a list." },
);

export const ReleaseItem = Type.Object(
  {
    id: uuid("The release's id."),
    name: text("The release's name, unique within the project."),
    files: count("Files of the release."),
    environments: Type.Array(Type.String(), {
      description: "The names of the environments that serve it.",
    }),
    created_at: dateTime("When the release was created."),
    frozen_at: nullable(
      Type.String({ format: "date-time" }),
      "Since when it never changes; null while an import is filling it.",
    ),
  },
  { title: "ReleaseItem", description: "A release in a list." },
);
