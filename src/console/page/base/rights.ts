import { decodeJwt } from "jose/jwt/decode";
import { useResource } from "./resource.ts";
import { client, ifAllowed, listed } from "./service.ts";
import { session } from "./session.ts";

/** The rights that an action needs. */
export interface Need {
  readonly permission: string;
  /** True for an action that is not limited to a project. A key that is bound to a project cannot do it. */
  readonly beyond?: boolean;
  /** The slug of the project that the action changes, and the minimum role in it. */
  readonly project?: string;
  readonly atLeast?: "owner" | "editor";
}

/** The known rights of the tab's credential. */
interface Rights {
  readonly userId?: string | undefined;
  /** True if the credential is bound to one project. */
  readonly isBound?: boolean;
  /** Absent for all permissions. */
  readonly scopes?: readonly string[];
}

/** The id of the user of a JWT. */
function subjectOf(token: string): string | undefined {
  try {
    return decodeJwt(token).sub;
  } catch {
    return undefined;
  }
}

/** The rights of an API key, from the list of its user's keys. A JWT holds all permissions. */
async function readRights(credential: string): Promise<Rights> {
  const prefix = /^tsr_[^_]+/.exec(credential)?.[0];
  if (prefix === undefined) return { userId: subjectOf(credential) };
  const keys = await ifAllowed(listed((page) => client.allApiKeys(page)));
  const own = keys.find((key) => key.key_prefix === prefix);
  if (own === undefined) return {};
  const { user_id: userId, project_id: project, scopes } = own;
  return { userId, isBound: project !== null, ...(scopes.length > 0 && { scopes }) };
}

let known: { readonly credential: string; readonly rights: Promise<Rights> } | undefined;

function rightsOf(credential: string): Promise<Rights> {
  if (known?.credential !== credential) known = { credential, rights: readRights(credential) };
  return known.rights;
}

/** The reason why the credential cannot do this; null if it can, or if that is unknown. */
async function refusalOf({ permission, beyond, project, atLeast }: Need): Promise<string | null> {
  const { userId, isBound, scopes } = await rightsOf(session.credential);
  if (scopes?.includes(permission) === false) return `This key lacks the permission ${permission}.`;
  if (beyond && isBound) return "This key reaches one project only.";
  if (project === undefined || userId === undefined) return null;
  const members = await ifAllowed(listed((page) => client.allMembers(project, page)));
  const own = members.find(({ id }) => id === userId)?.role;
  const suffices = own === undefined || own === "owner" || own === atLeast;
  return suffices ? null : `You are ${own} of this project, and this needs ${atLeast}.`;
}

/** The reason why the credential cannot do this; null if it can; undefined while the rights are loaded. */
export function useRefusal(need: Need): string | null | undefined {
  // If the rights cannot be read, the service decides.
  return useResource(JSON.stringify(need), () => refusalOf(need).catch(() => null)).value;
}
