import { listIfAllowed, type Schemas } from "./api.ts";
import { type Resource, useResource } from "./resource.ts";

export type Project = Schemas["Project"];

/** The caller's projects; none if the credential may not list them. Beyond a thousand they are found by their address. */
export function useProjects(): Resource<Project[]> {
  return useResource("projects", (signal) => listIfAllowed<Project>("projects", signal));
}
