import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface PanelProps {
  readonly title: string;
  /** A sentence below the title. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

interface PageProps extends PanelProps {
  /** True for a view whose first control identifies it. */
  readonly titleHidden?: boolean;
}

/** A view: its title, which also names the tab and takes the focus, and its contents. */
export function Page({ title, lead, actions, titleHidden = false, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} - Tessera`;
  }, [title]);
  useEffect(() => {
    // Screen readers announce the new view. A box that takes the focus itself has precedence.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="page">
      <div class={titleHidden ? "visually-hidden" : "page-head"}>
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <p class="muted">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a view on a surface of its own. */
export function Panel({ title, lead, actions, children }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {lead && <p class="muted">{lead}</p>}
      {children}
    </section>
  );
}

interface TabsProps {
  readonly label: string;
  /** The parts by their names in addresses. */
  readonly tabs: Readonly<Record<string, { readonly label: string }>>;
  readonly current: string;
  readonly hrefTo: (name: string) => string;
}

/** The parts of a view, each with an address. */
export function Tabs({ label, tabs, current, hrefTo }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {Object.entries(tabs).map(([name, { label: text }]) => (
        <a key={name} href={hrefTo(name)} aria-current={name === current ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** Names with their values. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Badge({
  kind = "plain",
  children,
}: {
  kind?: "plain" | "good" | "warn";
  children: ComponentChildren;
}) {
  return <span class={`badge ${kind}`}>{children}</span>;
}
