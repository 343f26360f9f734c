import { ProblemError } from "../base/api.ts";
import { hrefOf } from "../base/router.ts";
import { Empty } from "./states.tsx";

/** True for the answer that the project does not exist or is not accessible. */
export const isNoProject = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.problem?.type?.endsWith("/project-not-found") === true;

/** Shown for a project that does not exist or is not accessible. The service does not distinguish the two. */
export function NoProject({ slug, error }: { slug: string; error: Error }) {
  return (
    <Empty title={`There is no project ${slug} here.`}>
      <p role="alert">{error.message}</p>
      <p>It may have another name, or this credential does not reach it.</p>
      <p>
        <a href={hrefOf(["projects"])}>Go to Projects</a>
      </p>
    </Empty>
  );
}
