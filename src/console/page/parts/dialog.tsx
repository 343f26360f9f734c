import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps } from "./button.tsx";
import { Form, TextField } from "./form.tsx";

interface DialogButtonProps extends Pick<ButtonProps, "kind" | "icon" | "label"> {
  /** Absent for a button that is only its icon. */
  readonly text?: string;
  /** The title of the dialog; that of the button by default. */
  readonly title?: string;
  /** For code. */
  readonly wide?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}

/**
 * A button that opens a box above the page, closed with Escape. The element keeps the focus within it and gives it back.
 * Its contents exist while it is open.
 */
export function DialogButton(props: DialogButtonProps) {
  const { text, label, title = label ?? text, wide = false, children, ...button } = props;
  const element = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  const close = () => element.current?.close();
  useEffect(() => {
    if (open) element.current?.showModal();
  }, [open]);
  return (
    <>
      <Button {...button} {...(label && { label })} onClick={() => setOpen(true)}>
        {text}
      </Button>
      <dialog
        ref={element}
        class={wide ? "dialog wide" : "dialog"}
        aria-label={title}
        onClose={() => setOpen(false)}
      >
        {open && (
          <>
            <div class="panel-head">
              <h2>{title}</h2>
              <Button icon="close" label="Close" onClick={close} />
            </div>
            {children(close)}
          </>
        )}
      </dialog>
    </>
  );
}

interface ConfirmButtonProps extends Omit<DialogButtonProps, "wide" | "children"> {
  readonly yes: string;
  /** A text that the user must type to confirm a permanent loss: letters, digits and hyphens. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A button of an action that cannot be undone, which asks first. Its dialog closes once the action has succeeded. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { yes, typed, onConfirm, children, ...button } = props;
  return (
    <DialogButton {...button}>
      {(close) => (
        <>
          <p>{children}</p>
          <Form
            danger
            submit={yes}
            aside={<Button onClick={close}>Cancel</Button>}
            onSubmit={() => onConfirm().then(close)}
          >
            {typed !== undefined && (
              <TextField label={`Type ${typed} to confirm`} required pattern={typed} />
            )}
          </Form>
        </>
      )}
    </DialogButton>
  );
}
