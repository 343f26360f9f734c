import { useResource } from "../base/resource.ts";
import { hrefOf, isIn, type Route } from "../base/router.ts";
import { client } from "../base/service.ts";
import { Page, Tabs } from "../parts/page.tsx";
import { isNoProject, Loaded, NoProject } from "../parts/states.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Deliveries } from "./deliveries.tsx";
import { FilesView } from "./files-view.tsx";
import { MembersView } from "./members-view.tsx";
import { Overview } from "./overview.tsx";
import { Questions } from "./questions.tsx";
import { ReleasesView } from "./releases-view.tsx";
import { SettingsView } from "./settings-view.tsx";

const PARTS = {
  overview: { label: "Overview", Part: Overview },
  files: { label: "Files", Part: FilesView },
  releases: { label: "Releases", Part: ReleasesView },
  members: { label: "Members", Part: MembersView },
  questions: { label: "Questions", Part: Questions },
  audit: { label: "Audit log", Part: AuditLog },
  deliveries: { label: "Deliveries", Part: Deliveries },
  settings: { label: "Settings", Part: SettingsView },
};

/** A project: its state and contents, its members, and its questions. */
export function ProjectView({ slug, route }: { slug: string; route: Route }) {
  const project = useResource(slug, (signal) => client.getProject(slug, { signal }));
  const { value, error, reload } = project;
  const [, , asked = ""] = route.path;
  const part = isIn(PARTS, asked) ? asked : "overview";
  const { Part } = PARTS[part];
  if (isNoProject(error)) {
    return (
      <Page title="No such project">
        <NoProject slug={slug} error={error} />
      </Page>
    );
  }
  return (
    <Page
      title={value?.name ?? slug}
      lead={value?.description}
      actions={<a href={hrefOf(["search"], { project: slug })}>Search this project</a>}
    >
      <Tabs
        label="Parts of the project"
        tabs={PARTS}
        current={part}
        hrefTo={(name) => hrefOf(["projects", slug, ...(name === "overview" ? [] : [name])])}
      />
      <Loaded of={project}>
        {(loaded) => <Part project={loaded} params={route.params} reload={reload} />}
      </Loaded>
    </Page>
  );
}
