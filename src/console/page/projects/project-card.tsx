import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, projectPath, type Schemas } from "../base/api.ts";
import { ago, counted, dateTime } from "../base/format.ts";
import type { Project } from "../base/projects.ts";
import { useResource } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { type State, StateBadge } from "./index-panel.tsx";

type Quotas = Schemas["Quotas"];

/**
 * The contents and index state of a project. They are loaded once the card is visible, because there may be many cards.
 */
export function ProjectCard({ project }: { project: Project }) {
  const { name, slug, description, environments = [], releases = [] } = project;
  const card = useRef<HTMLLIElement>(null);
  const seen = useSeen(card);
  const { value } = useResource(seen ? `card:${slug}` : undefined, async (signal) => {
    const read = async <T,>(part: string) =>
      (await call<T>(projectPath(slug, part), { signal })).body;
    const [quotas, state] = await Promise.all([read<Quotas>("quotas"), read<State>("index-state")]);
    return { quotas, state };
  });
  return (
    <li class="panel" ref={card}>
      <div class="panel-head">
        <h2>
          <a href={hrefOf(["projects", slug])}>{name}</a>
        </h2>
        {value && <StateBadge of={value.state} />}
      </div>
      {description && <p>{description}</p>}
      <p class="card-holds">{value ? holdsOf(value.quotas) : "\u00a0"}</p>
      <p class="muted small">
        <code>{slug}</code>, {counted(environments.length, "environment")},{" "}
        {counted(releases.length, "release")}
        {value && <Changed project={project} state={value.state} />}
      </p>
    </li>
  );
}

function holdsOf({ data }: Quotas): string {
  const used = (quota: string) => data.find((each) => each.quota === quota)?.used ?? 0;
  return `${counted(used("files"), "file")}, ${counted(used("chunks"), "chunk")}`;
}

/**
 * The time of the last change. The change log drops old entries; then the time in the project is the latest known one.
 */
function Changed({ project, state }: { project: Project; state: State }) {
  const at = state.last_changed_at ?? project.updated_at;
  if (at === undefined) return null;
  return (
    <>
      , changed{" "}
      <time dateTime={at} title={dateTime(at)}>
        {ago(at)}
      </time>
    </>
  );
}

/** True once an element has been on the screen. Its contents are loaded only then. */
function useSeen(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      watcher.disconnect();
    });
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
  return seen;
}
