import { useState } from "preact/hooks";
import { useProjects } from "../base/projects.ts";
import type { Route } from "../base/router.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { CreateProject } from "./create-project.tsx";
import { Invitations } from "./invitations.tsx";
import { ProjectCard } from "./project-card.tsx";
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
