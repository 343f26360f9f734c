import { randomUUID } from "node:crypto";
import type { Caller } from "../../../support/api/api.ts";
import type { FaultInjector } from "../world/faults.ts";
import type { Requests } from "../world/requests.ts";
import type { World } from "../world/world.ts";
import { Environment, type Scope } from "./scope.ts";

/** A project as it must be. */
export interface ModelProject {
  readonly slug: string;
  /** True if the second user of the tenant is a member too. */
  readonly isShared: boolean;
  readonly environments: Map<string, Environment>;
  readonly releases: Map<string, Scope>;
  /** For every path, the numbers of all contents that it has ever had. */
  readonly versions: Map<string, Set<number>>;
}

export interface ModelKey {
  readonly id: string;
  readonly key: string;
  /** The slug of the only project that it gives access to. */
  readonly project: string | null;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  state: "valid" | "perhaps revoked" | "revoked";
  /** When the last request to revoke it was acknowledged. */
  revokedAt: number;
}

/** What is known of an idempotency key. */
export interface ModelDelivery {
  stored: { readonly payload: number; readonly event: string } | undefined;
  /** Payloads of deliveries with unknown outcome. */
  readonly perhaps: Set<number>;
  /** How often it was acknowledged as new. */
  fresh: number;
}

export interface ModelWebhook {
  readonly id: string;
  readonly secret: string;
  readonly project: string;
  /** The conversation of all its deliveries; null if each has its own. */
  readonly conversation: string | null;
  readonly keyed: Map<string, ModelDelivery>;
  /** Events of deliveries without a key. */
  readonly unkeyed: Set<string>;
  /** Deliveries without a key whose outcome is unknown. */
  unkeyedPerhaps: number;
}

export interface ModelInputRequest {
  readonly id: string;
  readonly conversation: string;
  readonly closed: boolean;
  stored: number | undefined;
  /** Choices whose outcome is unknown. */
  readonly perhaps: Set<number>;
  /** How often an answer was acknowledged as the first. */
  accepted: number;
}

export interface ModelBranch {
  readonly id: string;
  readonly project: string;
  readonly approvals: Set<string>;
  readonly checks: Map<string, string>;
}

/** Everything that one customer has, as it must be. No other tenant may change or see it. */
export interface Tenant {
  readonly id: string;
  readonly owner: Caller;
  readonly member: Caller;
  readonly projects: Map<string, ModelProject>;
  /** Slugs of projects that may have been created. */
  readonly perhaps: Set<string>;
  readonly keys: ModelKey[];
  readonly webhooks: readonly ModelWebhook[];
  readonly conversation: { readonly id: string; readonly messages: readonly string[] };
  readonly requests: readonly ModelInputRequest[];
  readonly branch: ModelBranch;
  /** Checkout pages by number of seats. */
  readonly upgrades: Map<number, string>;
}

/** What commands act on, beside their tenant. */
export interface Scene {
  readonly world: World;
  readonly requests: Requests;
  readonly faults: FaultInjector;
  readonly tenants: readonly Tenant[];
  /** Set when a command has failed, so that the other clients stop. */
  failed: boolean;
}

export const CHECK_NAMES = ["build", "lint"];
const MESSAGES = 3;
const OPEN_REQUESTS = 5;
export const EMAIL_DOMAIN = "example.com";

export function newProject(slug: string, isShared = false): ModelProject {
  const environments = new Map([["production", new Environment()]]);
  return { slug, isShared, environments, releases: new Map(), versions: new Map() };
}

const newWebhook = (project: string, conversation: string | null): ModelWebhook => ({
  id: randomUUID(),
  secret: randomUUID(),
  project,
  conversation,
  keyed: new Map(),
  unkeyed: new Set(),
  unkeyedPerhaps: 0,
});

/** A tenant with one project, and the records that create it. */
export async function newTenant(world: World): Promise<{ tenant: Tenant; records: object[] }> {
  const id = `t${randomUUID().replaceAll("-", "")}`;
  const slug = `${id}-0`;
  const [owner, member] = await Promise.all([
    world.caller(randomUUID()),
    world.caller(randomUUID()),
  ]);
  const [conversation, deliveries] = [randomUUID(), randomUUID()];
  const project = newProject(slug, true);
  project.environments.set("preview", new Environment());
  const tenant: Tenant = {
    id,
    owner,
    member,
    perhaps: new Set(),
    keys: [],
    upgrades: new Map(),
    projects: new Map([[slug, project]]),
    webhooks: [newWebhook(slug, null), newWebhook(slug, deliveries)],
    conversation: {
      id: conversation,
      messages: Array.from({ length: MESSAGES }, () => randomUUID()),
    },
    requests: Array.from({ length: OPEN_REQUESTS + 2 }, (_, at) => ({
      id: randomUUID(),
      conversation,
      stored: undefined,
      perhaps: new Set(),
      accepted: 0,
      closed: at >= OPEN_REQUESTS,
    })),
    branch: { id: randomUUID(), project: slug, approvals: new Set(), checks: new Map() },
  };
  return { tenant, records: recordsOf(tenant, slug, deliveries) };
}

function recordsOf(tenant: Tenant, slug: string, deliveries: string): object[] {
  const { id, owner, member, conversation, requests, webhooks, branch } = tenant;
  const user = ({ userId }: Caller, name: string) => {
    return { record: "user", id: userId, email: `${name}-${id}@${EMAIL_DOMAIN}`, name };
  };
  const conversationRecord = (conversationId: string) => {
    const created_by = owner.userId;
    return { record: "conversation", id: conversationId, project_id: slug, created_by };
  };
  const members = [{ user: member.userId, role: "editor" }];
  return [
    user(owner, "owner"),
    user(member, "member"),
    { record: "project", slug, name: "A project", owner: owner.userId, members },
    ...["production", "preview"].map((name) => ({ record: "environment", project: slug, name })),
    { record: "branch", project: slug, id: branch.id, name: "main" },
    conversationRecord(conversation.id),
    conversationRecord(deliveries),
    ...conversation.messages.map((message, at) => ({
      record: "message",
      id: message,
      conversation_id: conversation.id,
      seq: at + 1,
      role: "user",
      parent_id: conversation.messages[at - 1],
      parts: [{ type: "text", text: message }],
    })),
    ...requests.map((request, at) => ({
      record: "input_request",
      id: request.id,
      conversation_id: conversation.id,
      fields: [{ name: "choice", type: "number", required: true }],
      // The last two are closed: one was cancelled, the other is overdue.
      ...(at === OPEN_REQUESTS ? { status: "cancelled" } : {}),
      ...(at === OPEN_REQUESTS + 1 ? { expires_at: "2001-01-01T00:00:00Z" } : {}),
    })),
    ...webhooks.map(({ id, secret, conversation }) => ({
      record: "webhook_definition",
      id,
      project: slug,
      secret,
      ...(conversation === null ? {} : { conversation_id: conversation }),
    })),
  ];
}
