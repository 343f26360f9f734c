import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";

const COPIED_MS = 1_500;

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `primary` once per form, `danger` for removals, `quiet` within lists. */
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly icon?: IconName;
  readonly type?: "button" | "submit";
  readonly disabled?: boolean;
  readonly onClick?: () => void;
  /** The accessible name, if the text does not name the object of the button. */
  readonly label?: string;
  readonly expanded?: boolean;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", type = "button", icon, label, children, expanded, ...rest } = props;
  return (
    <button
      type={type}
      class={`button ${kind}`}
      aria-label={label}
      aria-expanded={expanded}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
}

export function IconButton({ icon, label, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class="button icon-only"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Copies a text, and shows a confirmation for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
  };
  return (
    <Button kind="quiet" icon={copied ? "check" : "copy"} onClick={copy}>
      {copied ? "Copied" : label}
    </Button>
  );
}
