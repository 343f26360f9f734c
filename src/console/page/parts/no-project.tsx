import { ProblemError } from "../base/api.ts";
import { hrefOf } from "../base/router.ts";
import { Empty } from "./states.tsx";

/** Whether an answer says that the caller reaches no such project. */
export const isNoProject = (error: unknown): error is ProblemError =>
  error instanceof ProblemError && error.problem?.type?.endsWith("/project-not-found") === true;

/** In place of a project that does not exist or is another's, which are not told apart. */
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
