import type { Route } from "../base/router.ts";
import type { Project } from "../base/service.ts";

/** The properties of every part of a project. */
export interface ProjectProps {
  readonly project: Project;
  readonly params: Route["params"];
  /** Reads the project again after a change. */
  readonly reload: () => void;
}
