import type { ComponentChildren } from "preact";
import type { Resource } from "../base/resource.ts";
import { Button } from "./button.tsx";

interface EmptyProps {
  readonly title: string;
  /** What to do about it. */
  readonly children?: ComponentChildren;
}

/** Where there is nothing to show yet. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Lines in place of what is being loaded. They appear late, so that quick answers do not flicker. */
export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <div class="loading" role="status" aria-label={what}>
      <span />
      <span />
      <span />
    </div>
  );
}

/** What went wrong, in the words of the problem document. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
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

/** What a resource holds, or that it is loading or has failed. */
export function Loaded<T>({ of, children }: LoadedProps<T>) {
  if (of.error !== undefined) return <Failure error={of.error} retry={of.reload} />;
  if (of.value === undefined) return <Loading />;
  return <>{children(of.value)}</>;
}
