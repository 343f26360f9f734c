import { listAll, ProblemError, type Schemas } from "./api.ts";
import { type Resource, useResource } from "./resource.ts";

export type Project = Schemas["Project"];

/** More projects than this are found by their address only. */
const PROJECTS_MAX = 1_000;
const FORBIDDEN = 403;

/** The caller's projects; none if the credential may not list them. */
export function useProjects(): Resource<Project[]> {
  return useResource("projects", async (signal) => {
    try {
      const query = { limit: 100 };
      return await listAll<Project>("projects", { query, signal, most: PROJECTS_MAX });
    } catch (error) {
      if (error instanceof ProblemError && error.status === FORBIDDEN) return [];
      throw error;
    }
  });
}
