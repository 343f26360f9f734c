import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, type Schemas } from "../base/api.ts";
import { useProjects } from "../base/projects.ts";
import { hrefOf, navigate, type Route } from "../base/router.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { EmbedderSelect } from "./embedder-select.tsx";
import { Invitations } from "./invitations.tsx";
import { ProjectCard } from "./project-card.tsx";
import { ProjectView } from "./project-view.tsx";

const EMBEDDER = "hashing";

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

/** A name as a slug: `My handbook` becomes `my-handbook`. */
const slugOf = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");

function CreateProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [slug, setSlug] = useState<string | undefined>(undefined);
  const [embedder, setEmbedder] = useState(EMBEDDER);
  const create = useAction(async () => {
    const json = {
      name,
      slug: slug ?? slugOf(name),
      ...(embedder === "" ? {} : { embedder }),
    };
    const { body } = await call<Schemas["Project"]>("projects", { method: "POST", json });
    navigate(hrefOf(["projects", body.slug, "files"]));
  });
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form action={create} submit="Create project">
        <TextField label="Name" required value={name} onInput={setName} />
        <TextField
          label="Slug"
          hint="Its name in addresses."
          required
          value={slug ?? slugOf(name)}
          onInput={setSlug}
        />
        <EmbedderSelect optional value={embedder} onChange={setEmbedder} />
      </Form>
    </Dialog>
  );
}
