import { type Static, Type } from "@sinclair/typebox";
import {
  IMPORT_NAME_MAX_CHARS,
  PROJECT_ENVIRONMENTS_MAX,
  PROJECT_MEMBERS_MAX,
  PROJECT_RELEASES_MAX,
  PROJECT_SLUG_MAX_CHARS,
} from "../../domain/limits.ts";
import { pageOf } from "../../domain/page-info.ts";
import { NAME_FAULT, NAME_PATTERN } from "../../domain/paths.ts";
import {
  anyObject,
  count,
  dateTime,
  described,
  flag,
  listOf,
  nullable,
  nullableText,
  number,
  text,
  uuid,
} from "../../domain/schemas.ts";

const EMBEDDER_NAME_MAX_CHARS = 63;
const DOMAIN_MAX_CHARS = 253;
const ENVIRONMENT_DOMAINS_MAX = 100;

const EmbedderName = Type.String({
  minLength: 1,
  maxLength: EMBEDDER_NAME_MAX_CHARS,
  examples: ["hashing"],
  description:
    "The name of the embedder that embeds the project's files and queries: `hashing`, which is built in " +
    "and meant for demonstrations, or one of the operator's.",
  "x-tessera-extension": true,
});

export const NewProject = described("NewProject", "A project to create.", {
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
});
export type NewProject = Static<typeof NewProject>;

export const ProjectChange = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, description: "The display name." })),
    description: Type.Optional(text("A description of the project.")),
    embedder: Type.Optional(EmbedderName),
    rebuild: Type.Optional(
      flag(
        "True to embed all chunks of the project again, by `embedder`, or without it by the project's own.",
      ),
    ),
  },
  { title: "ProjectChange", description: "The fields to change. Absent fields stay." },
);
export type ProjectChange = Static<typeof ProjectChange>;

export const DeletionQuery = Type.Object({
  confirm: text("The slug of the project, so that no other one is deleted by mistake.", "demo"),
});

const scopeName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: IMPORT_NAME_MAX_CHARS,
    errorMessage: `must be text of 1 to ${IMPORT_NAME_MAX_CHARS} characters`,
    description,
  });

const newScopeName = (description: string) =>
  Type.String({
    ...scopeName(description),
    pattern: NAME_PATTERN,
    errorMessage: `${NAME_FAULT}, with 1 to ${IMPORT_NAME_MAX_CHARS} characters`,
  });

export const NewRelease = described("NewRelease", "A release to create.", {
  name: newScopeName("The name of the release, unique within the project."),
  environment: scopeName("The environment whose working set the release freezes."),
});
export type NewRelease = Static<typeof NewRelease>;

export const NewEnvironment = described("NewEnvironment", "An environment to create.", {
  name: newScopeName("The name of the environment, unique within the project."),
  protected: Type.Optional(flag("True if the environment is protected against changes.")),
  domains: Type.Optional(
    Type.Array(Type.String({ maxLength: DOMAIN_MAX_CHARS }), {
      maxItems: ENVIRONMENT_DOMAINS_MAX,
      description: "The domains of the environment.",
    }),
  ),
  contents_of: Type.Optional(
    Type.Union(
      [
        Type.Object(
          { environment: scopeName("The name of an environment.") },
          { additionalProperties: false },
        ),
        Type.Object(
          { release: scopeName("The name or the id of a release.") },
          { additionalProperties: false },
        ),
        scopeName("The name of an environment, or else of a release."),
      ],
      {
        description:
          "The contents that the environment begins with: the files that another environment serves, or those of a " +
          "release. Without it, the environment is empty.",
        errorMessage: 'must be {"environment": "<name>"} or {"release": "<name or id>"}',
      },
    ),
  ),
});
export type NewEnvironment = Static<typeof NewEnvironment>;

export const EnvironmentChange = Type.Object(
  {
    active_release: Type.Union([scopeName("The name of a release."), Type.Null()], {
      description: "The release that the environment serves; null for its working set.",
      errorMessage: "must be the name of a release, or null",
    }),
  },
  { title: "EnvironmentChange", description: "The release that an environment is to serve." },
);
export type EnvironmentChange = Static<typeof EnvironmentChange>;

export const EnvironmentSummary = described("Environment", "A summary of an environment.", {
  id: uuid("The environment's id."),
  name: text("The environment's name, unique within the project."),
  protected: flag("True when the environment is protected against changes."),
  domains: listOf(Type.String(), "The domains of the environment."),
  environment_variables: listOf(Type.Unknown(), "The environment variables."),
  active_release_id: Type.Optional(
    uuid("The release that the environment serves. Without one, it serves its working set."),
  ),
  server_hostname: Type.Optional(text("The host that the environment runs on.")),
});

export const ReleaseSummary = described("Release", "A summary of a release.", {
  id: uuid("The release's id."),
  name: text("The release's name."),
  export_status: text("The status of the export."),
  build_status: text("The status of the build."),
  deploy_status: text("The status of the deployment."),
});

const UserSummary = described("Member", "A summary of a member.", {
  id: text("The user's id."),
  name: text("The user's name."),
  email: Type.Optional(text("The user's email address, if known.")),
  role: text("The user's role in the project."),
  avatar_src: text("The URL of the user's picture; empty without a picture."),
});

export const Project = described("Project", "A project.", {
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
    listOf(
      EnvironmentSummary,
      `The first ${PROJECT_ENVIRONMENTS_MAX} environments, in order of name. Their list has all.`,
    ),
  ),
  releases: Type.Optional(
    listOf(ReleaseSummary, `The newest ${PROJECT_RELEASES_MAX} releases, the newest first.`),
  ),
  users: Type.Optional(
    listOf(UserSummary, `The members, owners first, at most ${PROJECT_MEMBERS_MAX}.`),
  ),
  features: Type.Optional(listOf(Type.String(), "The enabled features.")),
  config: Type.Optional(anyObject("The project's configuration.")),
  is_claimed: Type.Optional(flag("True when the project has an owner.")),
  prompt_count: Type.Optional(number("The number of prompts.")),
  provider: Type.Optional(
    nullableText("The host of the project's repository; null without a repository."),
  ),
  layout: Type.Optional(nullableText("The layout of the files; null for the default.")),
  created_at: Type.Optional(dateTime("When the project was created.")),
  updated_at: Type.Optional(dateTime("When the project last changed.")),
  published_at: Type.Optional(
    dateTime("When the project was published. Absent when it is not published."),
  ),
});
export type Project = Static<typeof Project>;

export const ProjectPage = pageOf(
  "ProjectPage",
  Project,
  "The caller's projects in order of slug.",
);
export type ProjectPage = Static<typeof ProjectPage>;

export type EnvironmentSummary = Static<typeof EnvironmentSummary>;
export type ReleaseSummary = Static<typeof ReleaseSummary>;

export const EnvironmentItem = described("EnvironmentItem", "An environment in a list.", {
  id: uuid("The environment's id."),
  name: text("The environment's name, unique within the project."),
  active_release: nullableText("The name of the release that it serves; null for its working set."),
  files: count("Files of its working set."),
  protected: flag("True when the environment is protected against changes."),
});

export const ReleaseItem = described("ReleaseItem", "A release in a list.", {
  id: uuid("The release's id."),
  name: text("The release's name, unique within the project."),
  files: count("Files of the release."),
  environments: listOf(Type.String(), "The names of the environments that serve it."),
  created_at: dateTime("When the release was created."),
  frozen_at: nullable(
    Type.String({ format: "date-time" }),
    "Since when it never changes; null while an import is filling it.",
  ),
});
