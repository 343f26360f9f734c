import { useState } from "preact/hooks";
import { counted } from "../base/format.ts";
import { type Project, useProjects } from "../base/projects.ts";
import { hrefOf, type Route } from "../base/router.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { CreateProject } from "./create-project.tsx";
import { Invitations } from "./invitations.tsx";
import { ProjectView } from "./project-view.tsx";

/** The caller's projects, or the one that the address names. */
export function ProjectsView({ route }: { route: Route }) {
  const slug = route.path[1];
  return slug === undefined ? (
    <ProjectList />
  ) : (
    <ProjectView key={slug} slug={slug} route={route} />
  );
}

function ProjectList() {
  const projects = useProjects();
  const [creating, setCreating] = useState(false);
  return (
    <Page
      title="Projects"
      actions={
        <Allowed permission="projects.create" beyond>
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            New project
          </Button>
        </Allowed>
      }
    >
      {creating && <CreateProject onClose={() => setCreating(false)} />}
      <Invitations onAccepted={projects.reload} />
      <Loaded of={projects}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="This credential shows no projects." />
          ) : (
            <ul class="columns cards">
              {list.map((project) => (
                <ProjectCard key={project.id} project={project} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const { name, slug, description, environments = [], releases = [] } = project;
  return (
    <li class="panel">
      <h2>
        <a href={hrefOf(["projects", slug])}>{name}</a>
      </h2>
      {description && <p>{description}</p>}
      <p class="muted small">
        <code>{slug}</code>, {counted(environments.length, "environment")},{" "}
        {counted(releases.length, "release")}
      </p>
    </li>
  );
}
