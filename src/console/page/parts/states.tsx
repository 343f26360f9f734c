import type { ComponentChildren } from "preact";
import type { Action, Resource } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { messageOf, TesseraError } from "../base/service.ts";
import { Button } from "./button.tsx";

interface EmptyProps {
  readonly title: string;
  /** The remedy. */
  readonly children?: ComponentChildren;
}

/** Shown instead of contents that do not exist yet. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Lines in place of contents that are being loaded. They appear late, so that quick answers do not flicker. */
export function Loading() {
  return (
    <div class="loading" role="status" aria-label="Loading">
      <span />
      <span />
      <span />
    </div>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      {retry && (
        <Button kind="quiet" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface LoadedProps<T> {
  readonly of: Resource<T>;
  readonly children: (value: T) => ComponentChildren;
}

/** The value of a resource, or its loading state or failure. */
export function Loaded<T>({ of, children }: LoadedProps<T>) {
  if (of.error !== undefined) return <Failure error={of.error} retry={of.reload} />;
  if (of.value === undefined) return <Loading />;
  return <>{children(of.value)}</>;
}

/** The button that adds a page to a list. */
export function More({ of, text }: { of: Action<[]> | undefined; text: string }) {
  return (
    <>
      {of?.error !== undefined && <Failure error={of.error} />}
      {of && (
        <Button onClick={of.run} disabled={of.running}>
          {text}
        </Button>
      )}
    </>
  );
}

/** True for the answer that the project does not exist or is not accessible. */
export const isNoProject = (error: unknown): boolean =>
  error instanceof TesseraError && error.slug === "project-not-found";

/** Shown for a project that does not exist or is not accessible. The service does not distinguish the two. */
export function NoProject({ slug, error }: { slug: string; error: unknown }) {
  return (
    <Empty title={`There is no project ${slug} here.`}>
      <p role="alert">{messageOf(error)}</p>
      <p>It may have another name, or this credential does not reach it.</p>
      <p>
        <a href={hrefOf(["projects"])}>Go to Projects</a>
      </p>
    </Empty>
  );
}
