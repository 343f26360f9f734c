import type { Sql } from "../db/client.ts";
import { type Operation, operation } from "../http/operation.ts";
import { NewProject, Project } from "./schema.ts";
import { createProject } from "./service.ts";

const EXAMPLE: Project = {
  id: "0d9a7c3e-52a4-4a53-8c55-1f2f5f6f7a22",
  slug: "handbook",
  name: "Handbook",
  description: "The company handbook.",
  is_claimed: true,
  features: [],
  environments: [
    {
      id: "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
      name: "production",
      protected: false,
      domains: [],
      environment_variables: [],
    },
  ],
  releases: [],
  created_at: "2026-01-05T09:30:00.000Z",
  updated_at: "2026-01-05T09:30:00.000Z",
  prompt_count: 0,
  config: {},
  provider: null,
  layout: null,
  users: [
    {
      id: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
      email: "ada@example.com",
      name: "Ada",
      role: "owner",
      avatar_src: "",
    },
  ],
};

/** POST /projects. */
export function projectOperations({ sql }: { sql: Sql }): Operation[] {
  return [
    operation({
      id: "createProject",
      method: "POST",
      path: "/projects",
      tag: "Projects",
      summary: "Create a project",
      description:
        "The caller becomes the owner. Without a template, the project has one environment, " +
        "`production`. With one, the template's config, features, environments and their working " +
        "sets are copied, but not its releases.",
      permission: "projects.create",
      body: NewProject,
      bodyExample: { name: "Handbook", slug: "handbook", description: EXAMPLE.description },
      status: 201,
      response: Project,
      responseExample: EXAMPLE,
      problems: ["permission-denied", "project-not-found", "project-slug-taken"],
      handle: ({ principal, body }) => createProject(sql, principal, body),
    }),
  ];
}
