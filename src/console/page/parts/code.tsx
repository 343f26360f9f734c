import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";
import { createLowlight } from "lowlight";
import type { ComponentChildren } from "preact";
import { CopyButton } from "./button.tsx";

const lowlight = createLowlight({ bash, json, typescript });

/** A piece of highlighted code as the highlighter describes it. */
type Node = ReturnType<typeof lowlight.highlight>["children"][number];

/** The tree of the highlighter as elements, without parsing markup. */
function rendered(node: Node, key: number): ComponentChildren {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const classes = node.properties["className"];
  return (
    <span key={key} class={Array.isArray(classes) ? classes.join(" ") : ""}>
      {node.children.map(rendered)}
    </span>
  );
}

interface CodeProps {
  readonly language: "bash" | "json" | "typescript";
  readonly text: string;
  /** Names the block. */
  readonly label: string;
}

/** Code with its words coloured and a button that copies it. */
export function Code({ language, text, label }: CodeProps) {
  return (
    <figure class="code">
      <figcaption>
        {label}
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach scrolling content */}
      <section class="code-text" tabIndex={0} aria-label={label}>
        <pre>
          <code>{lowlight.highlight(language, text).children.map(rendered)}</code>
        </pre>
      </section>
    </figure>
  );
}
