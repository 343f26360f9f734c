import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { ndjson } from "../../../support/ndjson.ts";
import { killedCommand } from "../world/killed-command.ts";
import { type Commands, pick, weighted } from "./command.ts";
import { CONTENTS, fileRecord, PATHS } from "./content.ts";
import { importAll, uploadAll } from "./importing.ts";
import { type Contents, type Environment, Scope } from "./scope.ts";
import { CHECK_NAMES, type ModelProject, type Scene, type Tenant } from "./tenant.ts";

const RELEASES = ["v1", "v2", "v3"];
const CHECK_STATES = ["pending", "success", "failure"];
const FILES_MAX = 6;
const KILL_WITHIN_MS = 1_500;

interface FileParams {
  readonly path: number;
  readonly content: number;
}

interface ImportParams {
  readonly project: number;
  readonly environment: number;
  readonly files: readonly FileParams[];
  /** A release that gets the same files, unless it exists. */
  readonly release: number;
  /** The process that imports over HTTP; null for the command. */
  readonly at: number | null;
  /** Milliseconds after which a first attempt of the command is killed; null for none. */
  readonly killAfterMs: number | null;
}

function withFiles(contents: Contents, files: readonly FileParams[]): Contents {
  const changed = new Map(contents);
  for (const { path, content } of files) changed.set(pick(PATHS, path), content % CONTENTS);
  return changed;
}

function noteVersions({ versions }: ModelProject, files: readonly FileParams[]): void {
  for (const [path, number] of withFiles(new Map(), files)) {
    versions.set(path, (versions.get(path) ?? new Set()).add(number));
  }
}

function environmentOf(project: ModelProject, number: number): [string, Environment] {
  return pick(project.environments, number);
}

/** Adds a release with its contents, unless the project has one of this name. */
function addRelease(project: ModelProject, name: string | undefined, contents: Contents): boolean {
  if (name === undefined || project.releases.has(name)) return false;
  const release = new Scope();
  release.change(contents);
  project.releases.set(name, release);
  return true;
}

async function importFiles(tenant: Tenant, scene: Scene, params: ImportParams): Promise<void> {
  const project = pick(tenant.projects.values(), params.project);
  const { files, killAfterMs } = params;
  const [name, environment] = environmentOf(project, params.environment);
  const release = RELEASES[params.release];
  environment.change(withFiles(environment.working, files));
  const isNew = addRelease(project, release, withFiles(new Map(), files));
  const scopes = { environments: [name], ...(isNew ? { releases: [release as string] } : {}) };
  const records = files.map(({ path, content }) =>
    fileRecord(project.slug, pick(PATHS, path), content, scopes),
  );
  if (killAfterMs !== null) {
    await killedCommand(scene.world, ["import", "-"], ndjson(records), killAfterMs);
    scene.requests.tally.reply("import killed");
  }
  const to = { slug: project.slug, as: tenant.owner };
  if (params.at === null) await importAll(scene, records);
  else await uploadAll(scene, { ...to, at: params.at }, records);
  noteVersions(project, files);
}

/** Freezes the working set of an environment as a release. */
async function freezeRelease(
  tenant: Tenant,
  scene: Scene,
  params: { project: number; environment: number; release: number },
): Promise<void> {
  const project = pick(tenant.projects.values(), params.project);
  const [name, environment] = environmentOf(project, params.environment);
  const release = pick(RELEASES, params.release);
  addRelease(project, release, environment.working);
  const record = { record: "release", project: project.slug, name: release, environment: name };
  await importAll(scene, [record]);
}

/** Makes an environment serve a release, or its working set again. */
async function serveRelease(
  tenant: Tenant,
  scene: Scene,
  params: { project: number; environment: number; release: number },
): Promise<void> {
  const project = pick(tenant.projects.values(), params.project);
  const [name, environment] = environmentOf(project, params.environment);
  const none: [null, null] = [null, null];
  const [release, scope] = pick([none, ...project.releases], params.release);
  environment.serve(scope?.current ?? null);
  const { slug } = project;
  await importAll(scene, [{ record: "environment", project: slug, name, active_release: release }]);
}

/** Records an approval or the status of a check. */
async function reviewBranch(
  { branch, owner, member }: Tenant,
  scene: Scene,
  params: { check: number; state: number },
): Promise<void> {
  const branch_id = branch.id;
  const status = CHECK_STATES[params.state];
  const check_name = pick(CHECK_NAMES, params.check);
  if (status !== undefined) {
    branch.checks.set(check_name, status);
    return await importAll(scene, [{ record: "status_check", branch_id, check_name, status }]);
  }
  const { userId } = pick([owner, member], params.check);
  branch.approvals.add(userId);
  // The id keeps a repeated import from adding a second approval.
  const approval = { record: "branch_approval", id: randomUUID(), branch_id, approved_by: userId };
  await importAll(scene, [{ ...approval, approved_at: new Date().toISOString() }]);
}

const chosen = fc.nat(20);
const file = fc.record({ path: fc.nat(PATHS.length - 1), content: fc.nat(CONTENTS - 1) });
const files = fc.uniqueArray(file, {
  minLength: 1,
  maxLength: FILES_MAX,
  size: "max" as const,
  selector: ({ path }) => path,
});
/** Most imports fill no release. */
const perhapsRelease = fc.nat(RELEASES.length * 3);
const importParams = { project: chosen, environment: chosen, files, release: perhapsRelease };
const releaseParams = { project: chosen, environment: chosen, release: chosen };

export const importCommands: Commands = [
  weighted(
    12,
    "import files",
    { ...importParams, at: fc.option(fc.nat(1)), killAfterMs: fc.constant(null) },
    importFiles,
  ),
  weighted(
    1,
    "kill an import",
    { ...importParams, at: fc.constant(null), killAfterMs: fc.nat(KILL_WITHIN_MS) },
    importFiles,
  ),
  weighted(2, "freeze a release", releaseParams, freezeRelease),
  weighted(2, "serve a release", releaseParams, serveRelease),
  weighted(
    2,
    "review a branch",
    { check: fc.nat(1), state: fc.nat(CHECK_STATES.length) },
    reviewBranch,
  ),
];
