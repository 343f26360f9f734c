/** Members with this role may change everything of a project, its members and their keys included. */
export const OWNER = "owner";
