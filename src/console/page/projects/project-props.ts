import type { Project } from "../base/projects.ts";
import type { Route } from "../base/router.ts";

/** The properties of every part of a project. */
export interface ProjectProps {
  readonly project: Project;
  readonly params: Route["params"];
  /** Reads the project again after a change. */
  readonly reload: () => void;
}
