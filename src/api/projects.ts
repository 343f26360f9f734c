import { type Static, Type } from "@sinclair/typebox";
import { deleteOwnedProject, updateProject } from "../content/projects/change.ts";
import { environmentOperations } from "../content/projects/environments.ts";
import { indexStateOperation } from "../content/projects/index-state.ts";
import { quotasOperation } from "../content/projects/read-quotas.ts";
import { releaseOperations } from "../content/projects/releases.ts";
import {
  DeletionQuery,
  NewProject,
  Project,
  ProjectChange,
  ProjectPage,
} from "../content/projects/schema.ts";
import { scopeListOperations } from "../content/projects/scope-lists.ts";
import {
  createProject,
  getProject,
  listProjects,
  type ProjectServices,
} from "../content/projects/service.ts";
import type { Sql } from "../db/client.ts";
import { LISTED_MAX_BYTES, PROJECT_COPY_WAIT_MAX_MS } from "../domain/limits.ts";
import { firstPage } from "../domain/page-info.ts";
import { referenceTo } from "../domain/reference.ts";
import { described, listOf, ProjectParams, text } from "../domain/schemas.ts";
import { ownDimension, type ProjectEmbedders } from "../embed/embedders/project-embedders.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery } from "../http/pages.ts";
import { json } from "../http/respond.ts";

const EXAMPLE: Project = {
  id: "ef10a346-3a8f-59f6-bafe-66a103e868f8",
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
  embedder: "hashing",
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

const PAGE_EXAMPLE: ProjectPage = {
  data: [EXAMPLE],
  page_info: firstPage("/projects?limit=1", "/projects?limit=1&cursor=4mUv0Zx7"),
};

const EmbedderList = described("EmbedderList", "The embedders that projects may have.", {
  data: listOf(
    described("Embedder", "A model that makes vectors of texts.", {
      name: text("The name that projects give."),
      dimension: Type.Integer({ minimum: 1, description: "The dimension of its vectors." }),
    }),
    "The built-in one first, then those of the configuration.",
  ),
});
type EmbedderList = Static<typeof EmbedderList>;

const EMBEDDERS_EXAMPLE: EmbedderList = {
  data: [
    { name: "hashing", dimension: 768 },
    { name: "e5", dimension: 1_024 },
  ],
};

/** GET /embedders. */
function embeddersOperation(embedders: ProjectEmbedders): Operation {
  return operation({
    id: "listEmbedders",
    method: "GET",
    path: "/embedders",
    tag: "Projects",
    summary: "List the embedders that projects may have",
    description:
      "They are the same for all callers: the built-in one and those of the configuration.",
    extension: true,
    permission: "projects.read",
    response: EmbedderList,
    responseExample: EMBEDDERS_EXAMPLE,
    problems: [],
    async handle() {
      const data = [...embedders.values()].map(({ name, fingerprint }) => ({
        name,
        dimension: ownDimension(fingerprint),
      }));
      return { data };
    },
  });
}

/** Operations on projects, and on their releases and environments. */
export function projectOperations(services: ProjectServices & ListServices): Operation[] {
  const { sql } = services;
  return [
    createOperation(services),
    operation({
      id: "listProjects",
      method: "GET",
      path: "/projects",
      tag: "Projects",
      summary: "List projects",
      description:
        "The projects that the caller is a member of. A key bound to a project lists that project. A page has fewer " +
        `than \`limit\`, one at least, if their contents have more than ${LISTED_MAX_BYTES} bytes.`,
      extension: true,
      permission: "projects.read",
      query: PageQuery,
      response: ProjectPage,
      responseExample: PAGE_EXAMPLE,
      problems: ["invalid-cursor"],
      handle: (call) => listProjects(services, call),
    }),
    operation({
      id: "getProject",
      method: "GET",
      path: "/projects/{project_reference}",
      tag: "Projects",
      summary: "Read a project",
      extension: true,
      permission: "projects.read",
      params: ProjectParams,
      response: Project,
      responseExample: EXAMPLE,
      conditional: true,
      problems: ["project-not-found"],
      handle: ({ params, principal }) => getProject(sql, principal, params.project_reference),
    }),
    updateOperation(services),
    deleteOperation(sql),
    embeddersOperation(services.embedders),
    ...releaseOperations(services),
    ...environmentOperations(services),
    ...scopeListOperations(services),
    indexStateOperation(sql),
    quotasOperation(sql),
  ];
}

const OWNERS = "The caller needs the role `owner`.";

function updateOperation(services: ProjectServices): Operation {
  return operation({
    id: "updateProject",
    method: "PATCH",
    path: "/projects/{project_reference}",
    tag: "Projects",
    summary: "Change a project",
    description:
      "The embedder can be changed while the project has no chunks. Files that it has as texts are cut and embedded " +
      "then. With `rebuild`, all chunks are embedded again in the background. Until all have their new embeddings, " +
      "searches go on with the old ones, and the project keeps its embedder; `embeddings_waiting` of the index state " +
      `counts the files that are left. A change of the embedder without \`rebuild\` ends that. ${OWNERS}`,
    extension: true,
    permission: "projects.write",
    params: ProjectParams,
    body: ProjectChange,
    bodyExample: { name: "Handbook" },
    response: Project,
    responseExample: EXAMPLE,
    problems: ["validation-failed", "permission-denied", "project-not-found", "embedder-mismatch"],
    handle: (call) => updateProject(services, call, call.body),
  });
}

function deleteOperation(sql: Sql): Operation {
  return operation({
    id: "deleteProject",
    method: "DELETE",
    path: "/projects/{project_reference}",
    tag: "Projects",
    summary: "Delete a project",
    description:
      "Deletes the project with everything in it, for good and in one transaction. One so large that this " +
      "takes longer than 25 seconds is answered 503 and stays whole; `tessera projects delete` waits. " +
      OWNERS,
    extension: true,
    permission: "projects.write",
    params: ProjectParams,
    query: DeletionQuery,
    status: 204,
    changesAccess: true,
    problems: ["permission-denied", "project-not-found"],
    handle: (call) => deleteOwnedProject(sql, call, call.query.confirm),
  });
}

function createOperation(services: ProjectServices): Operation {
  return operation({
    id: "createProject",
    method: "POST",
    path: "/projects",
    tag: "Projects",
    summary: "Create a project",
    description:
      "The caller becomes the owner. Without a template, the project has one environment, " +
      "`production`. With one, the template's config, features, environments and their working " +
      "sets are copied, but not its releases: the contents of a release that an environment serves become the " +
      "working set of its copy. The copies of a user are made one at a time: while one takes longer than " +
      `${PROJECT_COPY_WAIT_MAX_MS / 1_000} second, and for as long after it, further ones are answered 503 ` +
      "`overloaded`. A copy ends without effect when its client goes away. The first request that searches it " +
      "loads its indexes.",
    permission: "projects.create",
    body: NewProject,
    bodyExample: { name: "Handbook", slug: "handbook", description: EXAMPLE.description },
    status: 201,
    response: Project,
    responseExample: EXAMPLE,
    responseHeaders: { Location: { description: "The path of the project." } },
    problems: [
      "permission-denied",
      "project-not-found",
      "project-slug-taken",
      "embedder-mismatch",
      "quota-exceeded",
    ],
    async handle(call) {
      const project = await createProject(services, call, call.body);
      return json(project, 201, { location: `${call.basePath}/projects/${referenceTo(project)}` });
    },
  });
}
