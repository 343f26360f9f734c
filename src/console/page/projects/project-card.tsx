import { useEffect, useRef, useState } from "preact/hooks";
import { ago, counted, dateTime } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { client, type Project, type Schemas } from "../base/service.ts";
import { StateBadge } from "./index-panel.tsx";

/**
 * The contents and index state of a project. They are loaded once the card is visible, because there may be many cards.
 */
export function ProjectCard({ project }: { project: Project }) {
  const { name, slug, description, environments = [], releases = [], updated_at } = project;
  const card = useRef<HTMLLIElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const watcher = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    if (card.current !== null) watcher.observe(card.current);
    return () => watcher.disconnect();
  }, []);
  const { value } = useResource(seen ? slug : undefined, async (signal) => {
    const [quotas, state] = await Promise.all([
      client.getQuotas(slug, { signal }),
      client.getIndexState(slug, { signal }),
    ]);
    return { quotas, state };
  });
  // The change log drops old entries; then the time in the project is the latest known one.
  const changedAt = value?.state.last_changed_at ?? updated_at;
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
        <code class="name">{slug}</code>, {counted(environments.length, "environment")},{" "}
        {counted(releases.length, "release")}
        {value && changedAt !== undefined && (
          <>
            , changed{" "}
            <time dateTime={changedAt} title={dateTime(changedAt)}>
              {ago(changedAt)}
            </time>
          </>
        )}
      </p>
    </li>
  );
}

function holdsOf({ data }: Schemas["Quotas"]): string {
  const used = (quota: string) => data.find((each) => each.quota === quota)?.used ?? 0;
  return `${counted(used("files"), "file")}, ${counted(used("chunks"), "chunk")}`;
}
