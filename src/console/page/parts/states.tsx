import type { ComponentChildren } from "preact";
import type { Resource } from "../base/resource.ts";
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
export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <div class="loading" role="status" aria-label={label}>
      <span />
      <span />
      <span />
    </div>
  );
}

/** The message of an error, or the detail of its problem document. */
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

/** The value of a resource, or its loading state or failure. */
export function Loaded<T>({ of, children }: LoadedProps<T>) {
  if (of.error !== undefined) return <Failure error={of.error} retry={of.reload} />;
  if (of.value === undefined) return <Loading />;
  return <>{children(of.value)}</>;
}
