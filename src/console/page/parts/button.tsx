import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { usePause } from "../base/resource.ts";
import { Icon, type IconName } from "./icon.tsx";

const COPIED_MS = 1_500;

export interface ButtonProps {
  /** Absent for a button that is only its icon. */
  readonly children?: ComponentChildren;
  /** `primary` once per form, `danger` for removals, `quiet` within lists. */
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly icon?: IconName;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly onClick?: () => void;
  /** The accessible name, if the text does not name the object of the button. */
  readonly label?: string;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", type = "button", icon, label, children, ...rest } = props;
  const isIcon = children === undefined;
  return (
    <button
      type={type}
      class={`button ${isIcon ? "icon-only" : kind}`}
      aria-label={label}
      title={isIcon ? label : undefined}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Copies a text, and shows a confirmation for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const forget = usePause(() => setCopied(false), COPIED_MS);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    forget(undefined);
  };
  return (
    <Button kind="quiet" icon={copied ? "check" : "copy"} onClick={copy}>
      {copied ? "Copied" : label}
    </Button>
  );
}

/** A choice that the user can remove. */
export function Chip({ text, onEnd }: { text: string; onEnd: () => void }) {
  return (
    <span class="chip">
      {text}
      <button type="button" aria-label={`End: ${text}`} onClick={onEnd}>
        <Icon name="close" />
      </button>
    </span>
  );
}
