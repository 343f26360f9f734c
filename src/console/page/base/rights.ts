import { listIfAllowed, projectPath, type Schemas } from "./api.ts";
import { useResource } from "./resource.ts";
import { session } from "./session.ts";

type Role = "owner" | "editor";

/** The rights that an action needs. */
export interface Need {
  readonly permission: string;
  /** True for an action that is not limited to a project. A key that is bound to a project cannot do it. */
  readonly beyond?: boolean;
  /** The slug of the project that the action changes, and the minimum role in it. */
  readonly project?: string;
  readonly atLeast?: Role;
}

/** The known rights of the tab's credential. */
interface Rights {
  readonly userId: string | undefined;
  /** True if the credential is bound to one project. */
  readonly isBound: boolean;
  /** Undefined for all permissions. */
  readonly scopes: readonly string[] | undefined;
}

/** The id of the user of a JWT. */
function subjectOf(token: string): string | undefined {
  try {
    const payload = (token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(atob(payload)).sub;
  } catch {
    return undefined;
  }
}

/** The rights of an API key, from the list of its user's keys. A JWT holds all permissions. */
async function readRights(credential: string): Promise<Rights> {
  const everything = { userId: undefined, isBound: false, scopes: undefined };
  const prefix = /^tsr_[^_]+/.exec(credential)?.[0];
  if (prefix === undefined) return { ...everything, userId: subjectOf(credential) };
  const keys = await listIfAllowed<Schemas["ApiKey"]>("api-keys");
  const own = keys.find((key) => key.key_prefix === prefix);
  if (own === undefined) return everything;
  const { user_id: userId, project_id: project, scopes } = own;
  return { userId, isBound: project !== null, scopes: scopes.length > 0 ? scopes : undefined };
}

let known: { readonly credential: string; readonly rights: Promise<Rights> } | undefined;

function rightsOf(credential: string): Promise<Rights> {
  if (known?.credential !== credential) known = { credential, rights: readRights(credential) };
  return known.rights;
}

/** The reason why the credential cannot do this; null if it can, or if that is unknown. */
async function refusalOf({ permission, beyond, project, atLeast }: Need): Promise<string | null> {
  const { userId, isBound, scopes } = await rightsOf(session.credential ?? "");
  if (scopes !== undefined && !scopes.includes(permission)) {
    return `This key lacks the permission ${permission}.`;
  }
  if (beyond === true && isBound) return "This key reaches one project only.";
  if (project === undefined || userId === undefined) return null;
  const members = await listIfAllowed<Schemas["ProjectMember"]>(projectPath(project, "members"));
  const own = members.find(({ id }) => id === userId)?.role;
  const suffices = own === undefined || own === "owner" || own === atLeast;
  return suffices ? null : `You are ${own} of this project, and this needs ${atLeast}.`;
}

/** The reason why the credential cannot do this; null if it can; undefined while the rights are loaded. */
export function useRefusal(need: Need): string | null | undefined {
  const key = `refusal:${JSON.stringify(need)}`;
  // If the rights cannot be read, the service decides.
  return useResource(key, () => refusalOf(need).catch(() => null)).value;
}
