import { listIfAllowed, type Schemas } from "./api.ts";
import { type Resource, useResource } from "./resource.ts";

export type Project = Schemas["Project"];

/**
 * The caller's projects, at most a thousand; empty if the credential may not list them. Addresses lead to further ones.
 */
export function useProjects(): Resource<Project[]> {
  return useResource("projects", (signal) => listIfAllowed<Project>("projects", signal));
}
