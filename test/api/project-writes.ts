import { randomUUID } from "node:crypto";
import type { Answer, Caller, Sending, TestApi, TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { addInputRequest } from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { ndjson } from "../../support/ndjson.ts";
import { addWebhook, type TestWebhook } from "../../support/webhooks.ts";

/** A project that every operation can write to. */
export interface WritableProject extends TestProject {
  readonly owner: Caller;
  /** The id of a key that is bound to the project. */
  readonly keyId: string;
  readonly memberId: string;
  readonly webhook: TestWebhook;
  readonly answerPath: string;
  readonly strangerId: string;
}

/** How a test calls an operation with a method that may write. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly sending?: Sending;
  /**
   * The slug of its 404 while the project is being deleted; null for an operation that writes nothing to the
   * project, whatever it answers.
   */
  readonly gone: string | null;
}

/** A project with a file, a release and a row of each kind that an operation changes. */
export async function addWritableProject(
  api: TestApi,
  owner: Caller,
  files = 1,
): Promise<WritableProject> {
  const { sql } = api;
  const project = await api.project(owner);
  const { report } = importsOf(api, owner);
  await report(project, [
    { record: "environment", name: "production" },
    { record: "environment", name: "staging" },
    ...Array.from({ length: files }, (_, i) => ({
      record: "file",
      path: `${i}.md`,
      environments: ["production"],
      releases: ["v1"],
      content: `# ${i}\n`,
    })),
  ]);
  await report(project, [{ record: "release", name: "v0", environment: "production" }]);
  const conversation = await addConversation(sql, owner, project);
  const [member, stranger] = [await api.user(), await api.user()];
  await api.join(member, project);
  return {
    ...project,
    owner,
    memberId: member.userId,
    strangerId: stranger.userId,
    keyId: (await api.key(owner, { project })).id,
    webhook: await addWebhook(sql, project),
    answerPath: (await addInputRequest(sql, conversation)).path,
  };
}

const NDJSON = { "content-type": "application/x-ndjson" };
const MARKDOWN = { "content-type": "text/markdown" };
const VECTOR = { vector: [1, ...Array<number>(767).fill(0)], dimension: 768 };
const FREE = { type: "free", cycle: "monthly" };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const MCP = { accept: "application/json, text/event-stream" };

type Recipe = (project: WritableProject) => Write;

/** A write to a project, below its address. */
function inProject(method: string, path: string, sending: Sending): Recipe {
  return ({ slug, owner }) => ({
    method,
    path: `/projects/${slug}${path}`,
    gone: "project-not-found",
    sending: { as: owner, ...sending },
  });
}

/** A request with a method that may write, to an operation that does not. */
function reading(path: string, json: unknown): Recipe {
  return (project) => ({ ...inProject("POST", path, { json })(project), gone: null });
}

/**
 * Each operation whose method may write, in an order in which all succeed: what deletes comes last. The
 * database decides the fate of a new project that has another one as its template.
 */
export const WRITES: Readonly<Record<string, Recipe>> = {
  putFile: inProject("PUT", "/files/new.md", { body: "# New\n", headers: MARKDOWN }),
  importRecords: inProject("POST", "/import", {
    headers: NDJSON,
    body: ndjson([{ record: "file", path: "b.md", environments: ["production"], content: "# B" }]),
  }),
  createRelease: (project) =>
    inProject("POST", "/releases", { json: { name: randomUUID(), environment: "production" } })(
      project,
    ),
  createEnvironment: (project) =>
    inProject("POST", "/environments", {
      json: { name: randomUUID(), contents_of: { release: "v1" } },
    })(project),
  updateEnvironment: inProject("PATCH", "/environments/production", {
    json: { active_release: "v1" },
  }),
  updateProject: inProject("PATCH", "", { json: { description: "Changed" } }),
  putMember: (project) =>
    inProject("PUT", `/members/${project.strangerId}`, { json: { role: "editor" } })(project),
  deleteMember: (project) => inProject("DELETE", `/members/${project.memberId}`, {})(project),
  createApiKey: ({ id, owner }) => ({
    method: "POST",
    path: "/api-keys",
    gone: "project-not-found",
    sending: { as: owner, json: { name: "a key", project_id: id } },
  }),
  deliverWebhook: ({ webhook }) => ({
    method: "POST",
    path: webhook.path,
    gone: "webhook-not-found",
    sending: { headers: webhook.headers, json: { event: "push" } },
  }),
  answerInputRequest: ({ answerPath, owner }) => ({
    method: "POST",
    path: answerPath,
    gone: "input-request-not-found",
    sending: { as: owner, json: { values: { note: "Yes" } } },
  }),
  createProject: ({ slug, owner }) => ({
    method: "POST",
    path: "/projects",
    gone: null,
    sending: { as: owner, json: { slug: `c-${randomUUID()}`, name: "Copy", templateSlug: slug } },
  }),
  retrieve: reading("/retrieve", { query: "new" }),
  lookUpKnowledge: reading("/knowledge/lookup", { query: "new" }),
  searchEnvironment: reading("/environments/production/search", VECTOR),
  searchRelease: reading("/releases/v1/search", VECTOR),
  upgradeSubscription: ({ owner }) => ({
    method: "POST",
    path: "/account/subscription/upgrade",
    gone: null,
    sending: { as: owner, json: FREE },
  }),
  callMcp: ({ owner }) => ({
    method: "POST",
    path: "/mcp",
    gone: null,
    sending: { as: owner, json: PING, headers: MCP },
  }),
  createWebhook: (project) =>
    inProject("POST", "/webhooks", { json: { id: randomUUID() } })(project),
  deleteWebhook: (project) => inProject("DELETE", `/webhooks/${project.webhook.id}`, {})(project),
  deleteFile: inProject("DELETE", "/files/0.md", {}),
  deleteRelease: inProject("DELETE", "/releases/v0", {}),
  deleteEnvironment: inProject("DELETE", "/environments/staging", {}),
  revokeApiKey: ({ keyId, owner }) => ({
    method: "DELETE",
    path: `/api-keys/${keyId}`,
    gone: "api-key-not-found",
    sending: { as: owner },
  }),
  deleteProject: (project) => inProject("DELETE", `?confirm=${project.slug}`, {})(project),
};

/** The ids of the operations in the document whose methods may write. */
export async function writingOperations(api: TestApi): Promise<string[]> {
  const { document } = await api.contract();
  return Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((methods) =>
    Object.entries(methods)
      .filter(([method]) => method !== "get")
      .map(([, { operationId }]) => operationId),
  );
}

export async function sendWrite(api: TestApi, write: Write): Promise<Answer> {
  return await api.send(write.method, write.path, write.sending);
}
