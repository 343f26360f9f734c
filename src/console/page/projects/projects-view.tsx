import { useProjects } from "../base/resource.ts";
import { hrefOf, navigate, type Route } from "../base/router.ts";
import { client } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { EmbedderSelect } from "./embedder-select.tsx";
import { Invitations } from "./invitations.tsx";
import { ProjectCard } from "./project-card.tsx";
import { ProjectView } from "./project-view.tsx";

/** The caller's projects, or the one that the address names. */
export function ProjectsView({ route }: { route: Route }) {
  const [, slug] = route.path;
  if (slug === undefined) return <ProjectList />;
  return <ProjectView key={slug} slug={slug} route={route} />;
}

function ProjectList() {
  const projects = useProjects();
  return (
    <Page
      title="Projects"
      actions={
        <Allowed permission="projects.create" beyond>
          <DialogButton kind="primary" icon="plus" text="New project">
            {() => <CreateProject />}
          </DialogButton>
        </Allowed>
      }
    >
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

/** A name as a slug: `My handbook` becomes `my-handbook`. */
const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");

async function createProject(fields: Readonly<Record<string, string>>): Promise<void> {
  const { name = "", slug, embedder } = fields;
  const { slug: created } = await client.createProject({
    name,
    slug: slug || slugOf(name),
    ...(embedder && { embedder }),
  });
  navigate(hrefOf(["projects", created, "files"]));
}

const CreateProject = () => (
  <Form submit="Create project" onSubmit={createProject}>
    <TextField label="Name" name="name" required />
    <TextField
      label="Slug"
      name="slug"
      hint="Its name in addresses; made of the name unless it is given."
    />
    <EmbedderSelect optional value="hashing" />
  </Form>
);
