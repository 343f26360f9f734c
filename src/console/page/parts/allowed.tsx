import type { ComponentChildren } from "preact";
import { type Need, useRefusal } from "../base/rights.ts";

interface AllowedProps extends Need {
  readonly children: ComponentChildren;
}

/** Shows an action, or the reason why the credential of the tab cannot do it. */
export function Allowed({ children, ...need }: AllowedProps) {
  const refusal = useRefusal(need);
  if (refusal === undefined) return null;
  if (refusal === null) return <>{children}</>;
  return <p class="muted small">{refusal}</p>;
}
