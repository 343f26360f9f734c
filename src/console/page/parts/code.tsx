import { CopyButton } from "./button.tsx";

/** Code with its name and a button that copies it. */
export function Code({ label, text }: { label: string; text: string }) {
  return (
    <figure class="code">
      <figcaption>
        {label}
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach scrolling content */}
      <section class="code-text" tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </figure>
  );
}
