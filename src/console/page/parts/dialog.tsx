import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { Button, IconButton } from "./button.tsx";
import { Form, TextField } from "./form.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** For code. */
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A box above the page, closed with Escape. The element keeps the focus within it and gives it back. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-label={title}
      onClose={onClose}
    >
      <div class="panel-head">
        <h2>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

interface ConfirmProps extends Omit<DialogProps, "wide"> {
  readonly yes: string;
  /** A text that the user must type to confirm a permanent loss. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<void>;
}

/** Asks before an action that cannot be undone. Closes once the action has succeeded, and shows its failure. */
export function Confirm({ title, yes, typed, onConfirm, onClose, children }: ConfirmProps) {
  const [text, setText] = useState("");
  const action = useAction(async () => {
    await onConfirm();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Form
        danger
        action={action}
        submit={yes}
        disabled={typed !== undefined && text !== typed}
        aside={<Button onClick={onClose}>Cancel</Button>}
      >
        {typed !== undefined && (
          <TextField label={`Type ${typed} to confirm`} value={text} onInput={setText} />
        )}
      </Form>
    </Dialog>
  );
}
