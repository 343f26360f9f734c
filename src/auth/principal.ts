/** Every permission of the service, with a description. */
export const PERMISSIONS = {
  "account.billing.manage": "Start a subscription upgrade.",
  "api_keys.create": "Create API keys.",
  "api_keys.read": "Read API keys.",
  "api_keys.revoke": "Revoke API keys.",
  "branches.read": "Check whether a branch can be merged.",
  "chunks.read": "List the chunks of a project and read their embeddings.",
  "conversations.read": "Read conversations and their messages.",
  "files.read": "List and read the files of a project.",
  "files.write": "Write files and remove them.",
  "input_requests.respond": "Answer input requests.",
  "knowledge.lookup": "Look up project knowledge by text.",
  "projects.create": "Create projects.",
  "projects.import": "Import records into projects.",
  "projects.read": "List and read projects.",
  "projects.write": "Change and delete projects, their members and their webhooks.",
  "releases.write": "Create and delete releases and environments, and activate releases.",
  "search.query": "Search chunks by vector.",
  "webhooks.deliver": "Deliver to a project's webhooks without their secret.",
} as const;
export type Permission = keyof typeof PERMISSIONS;

const ACCOUNT_PREFIX = "account.";

/** The claims of a token about its user. */
export interface Identity {
  readonly name: string | null;
  /** The user's address; null if the token's address is unverified or unusable, undefined without claims on it. */
  readonly email: string | null | undefined;
  /** True if the issuer states that it has verified the address, false if that is only assumed. */
  readonly isVerified: boolean;
  readonly issuedAt: Date;
}

/** The caller, and the rights of the credential. */
export interface Principal {
  readonly userId: string;
  /** Null for API keys. */
  readonly identity: Identity | null;
  /** The API key in use; null for a JWT. */
  readonly keyId: string | null;
  /** The only project that the credential gives access to; null for all of the user's projects. */
  readonly projectId: string | null;
  /** The permissions of the credential; null means all except account permissions. */
  readonly scopes: ReadonlySet<string> | null;
  /** The account permissions of a JWT. Those of an API key are in its scopes. */
  readonly account: ReadonlySet<string>;
  /** True for OPERATOR, who owns every project. */
  readonly isOperator?: true;
}

/** The person with access to the database, as whom commands call operations. No request has this principal. */
export const OPERATOR: Principal = {
  userId: "00000000-0000-0000-0000-000000000000",
  identity: null,
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
  isOperator: true,
};

/** True for permissions that must be granted by name. */
export function isAccountPermission(permission: string): boolean {
  return permission.startsWith(ACCOUNT_PREFIX);
}

/** True when the caller holds the permission, which need not be one of PERMISSIONS. */
export function holds(principal: Principal, permission: string): boolean {
  if (principal.scopes !== null) return principal.scopes.has(permission);
  return isAccountPermission(permission) ? principal.account.has(permission) : true;
}
