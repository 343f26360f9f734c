import fc from "fast-check";
import type { Json } from "../../../support/api/openapi.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import { fileOf } from "./content.ts";
import { Environment } from "./scope.ts";
import { type ModelProject, newProject, type Scene, type Tenant } from "./tenant.ts";

const [OK, CREATED, TAKEN] = [200, 201, 409];
/** Slugs that a tenant creates projects with. Some attempts meet a slug that is taken. */
const SLUGS = 3;

interface CreateParams {
  readonly at: number;
  readonly slug: number;
  /** The project to copy; null for an empty one. */
  readonly template: number | null;
}

/** The project that a copy of a template is: its environments hold what those of the template serve. */
function copyOf(template: ModelProject, slug: string): ModelProject {
  const project = newProject(slug);
  project.environments.clear();
  for (const [name, { scope }] of template.environments) {
    const environment = new Environment();
    environment.change(scope.current);
    project.environments.set(name, environment);
    for (const [path, number] of scope.current) {
      project.versions.set(path, (project.versions.get(path) ?? new Set()).add(number));
    }
  }
  return project;
}

async function createProject(tenant: Tenant, scene: Scene, params: CreateParams): Promise<void> {
  const slug = `${tenant.id}-${params.slug}`;
  const template =
    params.template === null ? undefined : pick(tenant.projects.values(), params.template);
  const body = { name: "Another project", slug };
  const json = template === undefined ? body : { ...body, templateSlug: template.slug };
  const isTaken = tenant.projects.has(slug);
  const reply = await scene.requests.send(params.at, "POST", "/projects", {
    as: tenant.owner,
    json,
  });
  const wanted = template === undefined ? newProject(slug) : copyOf(template, slug);
  if (reply.kind !== "answer") {
    if (!isTaken) tenant.perhaps.add(slug);
    return;
  }
  if (reply.status === CREATED && !isTaken) {
    const names = reply.body.environments.map(({ name }: Json) => name);
    same("environments of a new project", names, [...wanted.environments.keys()].sort());
    tenant.projects.set(slug, wanted);
    tenant.perhaps.delete(slug);
    return;
  }
  same(`creating ${slug}: ${JSON.stringify(reply.body)}`, reply.status, TAKEN);
  if (!isTaken && !tenant.perhaps.has(slug)) throw new Error(`${slug} is taken before it exists`);
}

/** Lists the projects of the owner page by page, and compares them with those that must exist. */
export async function listProjects(
  tenant: Tenant,
  { requests }: Scene,
  { at, limit }: { readonly at: number; readonly limit: number },
): Promise<void> {
  const listed: string[] = [];
  let url: string | null = `/projects?limit=${limit}`;
  for (let page = at; url !== null; page++) {
    const { status, body }: Json = await requests.answered(page, "GET", url, { as: tenant.owner });
    same(`the status of ${url}`, status, OK);
    listed.push(...body.data.map(({ slug }: Json) => slug));
    url = body.page_info.next;
  }
  const certain = [...tenant.projects.keys()];
  const possible = listed.filter((slug) => !tenant.projects.has(slug) && tenant.perhaps.has(slug));
  same("the projects of an owner", listed, [...certain, ...possible].sort());
}

/** All chunks that a project has ever had, as they are listed. */
function chunksOf({ versions }: ModelProject): string[] {
  const all: string[] = [];
  for (const [path, numbers] of versions) {
    for (const number of numbers) {
      for (const { index, content } of fileOf(number).chunks)
        all.push(`${path} ${index} ${content}`);
    }
  }
  return all.sort();
}

/** Lists all chunks of a project page by page, and asks the processes in turn. */
export async function listChunks(
  { owner: as }: Tenant,
  scene: Scene,
  project: ModelProject,
  { at, limit }: { readonly at: number; readonly limit: number },
): Promise<void> {
  const listed: string[] = [];
  let url: string | null = `/projects/${project.slug}/chunks?limit=${limit}`;
  for (let page = at; url !== null; page++) {
    const { status, body }: Json = await scene.requests.answered(page, "GET", url, { as });
    same(`the status of ${url}`, status, OK);
    for (const { file_path, index, content } of body.data) {
      listed.push(`${file_path} ${index} ${content}`);
    }
    url = body.page_info.next;
  }
  same(`the chunks of ${project.slug}`, listed.sort(), chunksOf(project));
}

async function list(
  tenant: Tenant,
  scene: Scene,
  params: { project: number; at: number; limit: number },
): Promise<void> {
  await listChunks(tenant, scene, pick(tenant.projects.values(), params.project), params);
}

export const projectCommands: Commands = [
  weighted(
    2,
    "list projects",
    { at: fc.nat(1), limit: fc.integer({ min: 1, max: 3 }) },
    listProjects,
  ),
  weighted(
    2,
    "create a project",
    {
      at: fc.nat(1),
      slug: fc.integer({ min: 0, max: SLUGS }),
      template: fc.option(fc.nat(SLUGS)),
    },
    createProject,
  ),
  weighted(
    5,
    "list chunks",
    { project: fc.nat(20), at: fc.nat(1), limit: fc.integer({ min: 3, max: 40 }) },
    list,
  ),
];
