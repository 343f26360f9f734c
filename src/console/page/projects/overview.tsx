import { counted, dateTime } from "../base/format.ts";
import { hrefOf } from "../base/router.ts";
import { Facts, Panel } from "../parts/page.tsx";
import { IndexPanel } from "./index-panel.tsx";
import type { ProjectProps } from "./project-props.ts";
import { QuotasPanel } from "./quotas-panel.tsx";

/** The overview of a project. */
export function Overview({ project }: ProjectProps) {
  const { slug, environments = [], releases = [], users = [], embedder, created_at } = project;
  const link = (part: string, text: string) => (
    <a href={hrefOf(["projects", slug, part])}>{text}</a>
  );
  return (
    <>
      <div class="columns">
        <IndexPanel project={slug} />
        <Panel
          title="Project"
          actions={
            <a href={hrefOf(["operate", "deliveries"], { project: slug })}>Webhook deliveries</a>
          }
        >
          <Facts
            of={[
              ["Environments", link("releases", counted(environments.length, "environment"))],
              ["Releases", link("releases", counted(releases.length, "release"))],
              ["Members", link("members", counted(users.length, "member"))],
              ["Embedder", embedder ?? "none: found by words only"],
              ["Slug", <code>{slug}</code>],
              ["Created", created_at === undefined ? "unknown" : dateTime(created_at)],
            ]}
          />
        </Panel>
      </div>
      <QuotasPanel project={slug} />
    </>
  );
}
