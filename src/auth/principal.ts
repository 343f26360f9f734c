/** The permissions that the service knows, and what each one allows. */
export const PERMISSIONS = {
  "account.billing.manage": "Start a subscription upgrade.",
  "api_keys.create": "Create API keys.",
  "api_keys.read": "Read API keys.",
  "branches.read": "Check whether a branch can be merged.",
  "chunks.read": "List the chunks of a project.",
  "conversations.read": "Read conversations and their messages.",
  "input_requests.respond": "Answer input requests.",
  "knowledge.lookup": "Look up project knowledge by text.",
  "projects.create": "Create projects.",
  "search.query": "Search chunks by vector.",
  "webhooks.deliver": "Deliver to a project's webhooks without their secret.",
} as const;
export type Permission = keyof typeof PERMISSIONS;

const ACCOUNT_PREFIX = "account.";

/** Who is calling, and what the credential lets them do. */
export interface Principal {
  readonly userId: string;
  /** Known for tokens that carry them; used when the user is seen for the first time. */
  readonly email: string | null;
  readonly name: string | null;
  /** The API key in use; null for a JWT. */
  readonly keyId: string | null;
  /** The only project that the credential reaches; null when it reaches all of the user's. */
  readonly projectId: string | null;
  /** The permissions of the credential; null stands for all but account permissions. */
  readonly scopes: ReadonlySet<string> | null;
  /** The account permissions that a JWT carries. A key's stand in its scopes. */
  readonly account: ReadonlySet<string>;
}

/** True when permissions of this name are never implied. */
export function isAccountPermission(permission: string): boolean {
  return permission.startsWith(ACCOUNT_PREFIX);
}

/** True when the caller holds the permission, known to this version or not. */
export function holds(principal: Principal, permission: string): boolean {
  if (principal.scopes !== null) return principal.scopes.has(permission);
  return isAccountPermission(permission) ? principal.account.has(permission) : true;
}
