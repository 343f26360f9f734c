import type { Project } from "../base/projects.ts";
import { useOfProject } from "../base/resource.ts";
import { hrefOf, type Route } from "../base/router.ts";
import { isNoProject, NoProject } from "../parts/no-project.tsx";
import { Page, Tabs } from "../parts/page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { FilesView } from "./files-view.tsx";
import { MembersView } from "./members-view.tsx";
import { Overview } from "./overview.tsx";
import type { ProjectProps } from "./project-props.ts";
import { ReleasesView } from "./releases-view.tsx";
import { SettingsView } from "./settings-view.tsx";

const PARTS = [
  { name: "overview", label: "Overview", show: (props: ProjectProps) => <Overview {...props} /> },
  { name: "files", label: "Files", show: (props: ProjectProps) => <FilesView {...props} /> },
  {
    name: "releases",
    label: "Releases",
    show: (props: ProjectProps) => <ReleasesView {...props} />,
  },
  { name: "members", label: "Members", show: (props: ProjectProps) => <MembersView {...props} /> },
  {
    name: "settings",
    label: "Settings",
    show: (props: ProjectProps) => <SettingsView {...props} />,
  },
] as const;

/** A project: its state, files, environments and releases, members and settings. */
export function ProjectView({ slug, route }: { slug: string; route: Route }) {
  const project = useOfProject<Project>([slug]);
  const { value, error, reload } = project;
  const part = PARTS.find(({ name }) => name === route.path[2]) ?? PARTS[0];
  const tabs = PARTS.map(({ name, label }) => ({
    name,
    label,
    href: hrefOf(name === "overview" ? ["projects", slug] : ["projects", slug, name]),
  }));
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
      <Tabs label="Parts of the project" tabs={tabs} current={part.name} />
      {error !== undefined && <Failure error={error} retry={reload} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && part.show({ project: value, params: route.params, reload })}
    </Page>
  );
}
