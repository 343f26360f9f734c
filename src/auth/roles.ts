/** Members with this role may change a project, its contents, its members and their keys. */
export const OWNER = "owner";
/** Members with this role may change the contents of a project. */
const EDITOR = "editor";

/** The roles that the command line gives. Imported members may have others, which only read. */
export const ROLES = [OWNER, EDITOR, "member"] as const;
export type Role = (typeof ROLES)[number];

/** True when members with this role may change the contents of a project; all members may read. */
export function mayWrite(role: string): boolean {
  return role === OWNER || role === EDITOR;
}
