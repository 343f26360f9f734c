import { call, projectPath } from "../base/api.ts";
import type { Project } from "../base/projects.ts";
import { useResource } from "../base/resource.ts";
import { hrefOf, type Route } from "../base/router.ts";
import { Page, Panel } from "../parts/page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { Deliveries } from "./deliveries.tsx";
import { IndexPanel } from "./index-panel.tsx";

/** A project with its environments, releases, members and indexes. */
export function ProjectView({ slug }: { slug: string; route: Route }) {
  const project = useResource(slug, async (signal) => {
    return (await call<Project>(projectPath(slug), { signal })).body;
  });
  const { value } = project;
  return (
    <Page
      title={value?.name ?? slug}
      lead={value?.description}
      actions={<a href={hrefOf(["search"], { project: slug })}>Search this project</a>}
    >
      {project.error !== undefined && <Failure error={project.error} retry={project.reload} />}
      {value === undefined ? project.loading && <Loading /> : <Overview project={value} />}
    </Page>
  );
}

function Overview({ project }: { project: Project }) {
  const { slug, environments = [], releases = [], users = [] } = project;
  const names = new Map(releases.map(({ id, name }) => [id, name]));
  const serves = ({ active_release_id: id }: (typeof environments)[number]) =>
    id === undefined ? "its working set" : `release ${names.get(id) ?? id}`;
  return (
    <>
      <div class="columns">
        <Panel title="Environments">
          <Table
            label="Environments"
            rows={environments}
            keyOf={({ id }) => id}
            columns={[
              { name: "Name", value: ({ name }) => name },
              { name: "Serves", value: serves },
            ]}
          />
        </Panel>
        <Panel title="Releases">
          <Table
            label="Releases"
            rows={releases}
            keyOf={({ id }) => id}
            columns={[{ name: "Name", value: ({ name }) => name }]}
          />
        </Panel>
        <IndexPanel project={slug} />
        <Panel title="Members">
          <Table
            label="Members"
            rows={users}
            keyOf={({ id }) => id}
            columns={[
              { name: "Name", value: ({ name }) => name },
              { name: "Email", value: ({ email }) => email ?? "" },
              { name: "Role", value: ({ role }) => role },
            ]}
          />
        </Panel>
      </div>
      <Deliveries project={slug} />
    </>
  );
}
