import fc from "fast-check";
import { REVOCATION_BOUND_MS } from "../../../src/domain/limits.ts";
import { PATH as UPGRADE_PATH } from "../../../support/api/billing.ts";
import type { Json } from "../../../support/api/openapi.ts";
import type { Reply } from "../world/requests.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import { CHECK_NAMES, type ModelKey, type Scene, type Tenant } from "./tenant.ts";

const [OK, CREATED, DELETED] = [200, 201, 204];
const [UNAUTHORIZED, DENIED, NOT_FOUND, FAILED] = [401, 403, 404, 500];
const SCOPES = ["chunks.read", "search.query", "api_keys.read"];
const NEEDED_SCOPE = "chunks.read";
const LIFE_MAX_MS = 20_000;
const SEATS_MAX = 3;
const COPIES_MAX = 3;
/** The clocks of the test and of a service that is busy. */
const CLOCK_MS = 1_000;

interface CreateKeyParams {
  readonly at: number;
  readonly project: number | null;
  readonly scopes: readonly string[] | null;
  readonly lifeMs: number | null;
}

async function createKey(tenant: Tenant, scene: Scene, params: CreateKeyParams): Promise<void> {
  const { at, scopes, lifeMs } = params;
  const project = params.project === null ? null : pick(tenant.projects.keys(), params.project);
  const id = project === null ? null : await projectId(tenant, scene, at, project);
  const expiresAt = lifeMs === null ? null : Date.now() + lifeMs;
  const json = {
    name: "a key",
    ...(id === null ? {} : { project_id: id }),
    ...(scopes === null ? {} : { scopes }),
    ...(expiresAt === null ? {} : { expires_at: new Date(expiresAt).toISOString() }),
  };
  const reply = await scene.requests.send(at, "POST", "/api-keys", { as: tenant.owner, json });
  if (reply.kind !== "answer") return;
  // A stalled request may arrive after the expiry that it asks for.
  if (expiresAt !== null && reply.status === 400 && Date.now() > expiresAt - CLOCK_MS) return;
  same(`creating a key, ${JSON.stringify(reply.body)}`, reply.status, CREATED);
  const restrictions = { project, scopes: scopes ?? [], expiresAt };
  tenant.keys.push({
    id: reply.body.id,
    key: reply.body.key,
    ...restrictions,
    state: "valid",
    revokedAt: 0,
  });
}

async function projectId({ owner: as }: Tenant, scene: Scene, at: number, slug: string) {
  const { status, body } = await scene.requests.answered(at, "GET", `/projects/${slug}`, { as });
  same(`reading ${slug}`, [status, body.slug], [OK, slug]);
  return body.id as string;
}

/** The statuses that a listing with this key may have now. */
function allowedStatuses(key: ModelKey, slug: string, scene: Scene, sentAt: number): number[] {
  const now = Date.now();
  const hasExpired = key.expiresAt !== null && sentAt > key.expiresAt + CLOCK_MS;
  const mayHaveExpired = key.expiresAt !== null && now > key.expiresAt - CLOCK_MS;
  // While the database does not answer, what a service knew last counts for longer.
  const isBound = sentAt - key.revokedAt > REVOCATION_BOUND_MS && scene.world.calmMs > 0;
  if (hasExpired && scene.world.calmMs > 0) return [UNAUTHORIZED];
  if (key.state === "revoked" && isBound) return [UNAUTHORIZED];
  const hasScope = key.scopes.length === 0 || key.scopes.includes(NEEDED_SCOPE);
  const hasProject = key.project === null || key.project === slug;
  const permitted = hasScope ? (hasProject ? OK : NOT_FOUND) : DENIED;
  return mayHaveExpired || key.state !== "valid" ? [permitted, UNAUTHORIZED] : [permitted];
}

async function useKey(
  tenant: Tenant,
  scene: Scene,
  params: { at: number; key: number; project: number },
): Promise<void> {
  if (tenant.keys.length === 0) return;
  const key = pick(tenant.keys, params.key);
  const slug = pick(tenant.projects.keys(), params.project);
  const sentAt = Date.now();
  const as = { userId: tenant.owner.userId, headers: { "x-api-key": key.key } };
  const path = `/projects/${slug}/chunks?limit=1`;
  const reply = await scene.requests.send(params.at, "GET", path, { as });
  if (reply.kind !== "answer") return;
  const allowed = allowedStatuses(key, slug, scene, sentAt);
  if (!allowed.includes(reply.status)) {
    const text = JSON.stringify({ ...key, key: null });
    throw new Error(`${text} gets ${reply.status} in ${slug}, not one of ${allowed}`);
  }
}

async function readKey(
  tenant: Tenant,
  { requests }: Scene,
  params: { at: number; key: number },
): Promise<void> {
  if (tenant.keys.length === 0) return;
  const known = pick(tenant.keys, params.key);
  const { at } = params;
  const path = `/api-keys/${known.id}`;
  const { status, body } = await requests.answered(at, "GET", path, { as: tenant.owner });
  if (status === NOT_FOUND && known.state !== "valid") return;
  same(`reading a key, ${JSON.stringify(body)}`, status, OK);
  same("its scopes", body.scopes, known.scopes);
  same(
    "its expiry",
    body.expires_at === null ? null : Date.parse(body.expires_at),
    known.expiresAt,
  );
}

async function revokeKey(
  tenant: Tenant,
  { requests }: Scene,
  params: { at: number; key: number },
): Promise<void> {
  if (tenant.keys.length === 0) return;
  const known = pick(tenant.keys, params.key);
  const path = `/api-keys/${known.id}`;
  const reply = await requests.send(params.at, "DELETE", path, { as: tenant.owner });
  if (reply.kind !== "answer") {
    if (known.state === "valid") known.state = "perhaps revoked";
    return;
  }
  same("revoking a key, also again", reply.status, DELETED);
  if (known.state !== "revoked") known.revokedAt = Date.now();
  known.state = "revoked";
}

/** Starts the same upgrade several times at once: all must lead to one checkout. */
async function upgrade(
  tenant: Tenant,
  scene: Scene,
  params: { at: number; seats: number; copies: number },
): Promise<void> {
  const { at, seats, copies } = params;
  const json = { type: "pro", cycle: "monthly", quantity: seats };
  const wasCalm = scene.world.calmMs > 0;
  const replies = await Promise.all(
    Array.from({ length: copies }, (_, i) =>
      scene.requests.send(at + i, "POST", UPGRADE_PATH, { as: tenant.owner, json }),
    ),
  );
  for (const reply of replies) noteUpgrade(tenant, seats, reply, wasCalm && scene.world.calmMs > 0);
}

function noteUpgrade(tenant: Tenant, seats: number, reply: Reply, isCalm: boolean): void {
  if (reply.kind !== "answer") return;
  const { status, body } = reply;
  // The claim of a process that died holds others up for longer than they wait.
  if (status === FAILED && body.slug === "billing-provider-error" && !isCalm) return;
  same(`an upgrade, ${JSON.stringify(body)}`, [status, body.status], [OK, "pending"]);
  const known = tenant.upgrades.get(seats) ?? body.checkout_url;
  same("the checkout of an upgrade", body.checkout_url, known);
  tenant.upgrades.set(seats, known);
}

/** The provider has opened one session per upgrade, whichever process died meanwhile. */
export function verifyUpgrades({ owner, upgrades }: Tenant, { world }: Scene): void {
  const sessions = [...world.provider.sessions.values()].filter(
    (session) => session["client_reference_id"] === owner.userId,
  );
  if (sessions.length > SEATS_MAX || sessions.length < upgrades.size) {
    throw new Error(`${sessions.length} sessions were opened for ${upgrades.size} upgrades`);
  }
}

async function checkBranch(
  { branch, member: as }: Tenant,
  { requests }: Scene,
  { at }: { at: number },
): Promise<void> {
  const path = `/projects/${branch.project}/branches/${branch.id}/eligibility`;
  const { status, body } = await requests.answered(at, "GET", path, { as });
  same("the status of an eligibility", status, OK);
  const blockers = branch.approvals.size > 0 ? [] : ["approvalRequired"];
  for (const name of CHECK_NAMES) {
    if (branch.checks.get(name) === "pending") blockers.push("statusCheckPending");
    if (branch.checks.get(name) === "failure") blockers.push("statusCheckFailed");
  }
  const types = body.blockers.map((blocker: Json) => blocker.type);
  same("the blockers of a branch", types.sort(), blockers.sort());
  same("whether it can be merged", body.can_merge, blockers.length === 0);
}

/** Tries to reach what belongs to another tenant. */
async function trespass(
  tenant: Tenant,
  scene: Scene,
  params: { at: number; other: number; what: number },
): Promise<void> {
  const other = pick(scene.tenants, params.other);
  if (other === tenant) return;
  const slug = pick(other.projects.keys(), params.what);
  const { id } = other.conversation;
  const request = pick(other.requests, params.what);
  const answer = { json: { values: { choice: 0 } } };
  const attempts = [
    ["GET", `/projects/${slug}/chunks`],
    ["POST", `/projects/${slug}/knowledge/lookup`, { json: {} }],
    ["GET", `/conversations/${id}`],
    ["GET", `/conversations/${id}/tree`],
    ["POST", `/conversations/${id}/input-requests/${request.id}/responses`, answer],
    ["GET", `/projects/${slug}/branches/${other.branch.id}/eligibility`],
    ["GET", `/api-keys/${pick(other.keys, params.what)?.id ?? id}`],
  ] as const;
  const [method, path, sending] = pick(attempts, params.what);
  const reply = await scene.requests.send(params.at, method, path, {
    as: tenant.owner,
    ...sending,
  });
  if (reply.kind === "answer") same(`another tenant's ${path}`, reply.status, NOT_FOUND);
}

const at = fc.nat(1);
const chosen = fc.nat(20);
const upTo = (max: number) => fc.integer({ min: 1, max });

export const accountCommands: Commands = [
  weighted(
    3,
    "create a key",
    {
      at,
      project: fc.option(chosen),
      scopes: fc.option(fc.subarray(SCOPES, { minLength: 1 })),
      lifeMs: fc.option(fc.integer({ min: 2 * CLOCK_MS, max: LIFE_MAX_MS }), { freq: 2 }),
    },
    createKey,
  ),
  weighted(8, "use a key", { at, key: chosen, project: chosen }, useKey),
  weighted(2, "read a key", { at, key: chosen }, readKey),
  weighted(1, "revoke a key", { at, key: chosen }, revokeKey),
  weighted(1, "upgrade", { at, seats: upTo(SEATS_MAX), copies: upTo(COPIES_MAX) }, upgrade),
  weighted(3, "check a branch", { at }, checkBranch),
  weighted(5, "trespass", { at, other: chosen, what: chosen }, trespass),
];
