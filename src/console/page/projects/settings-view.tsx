import { hrefOf, navigate } from "../base/router.ts";
import { client } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { EmbedderSelect } from "./embedder-select.tsx";
import type { ProjectProps } from "./project-props.ts";

/** The name and the embedder of a project, and its deletion. */
export function SettingsView({ project, reload }: ProjectProps) {
  const { slug, embedder = "" } = project;
  const need = { permission: "projects.write", project: slug, atLeast: "owner" } as const;
  const save = async (fields: Readonly<Record<string, string>>) => {
    const { name = "", description = "", embedder: chosen } = fields;
    const other = chosen && chosen !== embedder ? { embedder: chosen } : {};
    await client.updateProject(slug, { name, description, ...other });
    reload();
  };
  const remove = async () => {
    await client.deleteProject(slug, slug);
    navigate(hrefOf(["projects"]));
  };
  return (
    <>
      <Panel title="Settings" lead="The embedder can be changed while the project has no chunks.">
        <Allowed {...need}>
          <Form submit="Save" onSubmit={save}>
            <TextField label="Name" name="name" required defaultValue={project.name} />
            <TextField
              label="Description"
              name="description"
              defaultValue={project.description ?? ""}
            />
            <EmbedderSelect optional={embedder === ""} value={embedder} />
          </Form>
        </Allowed>
      </Panel>
      <Panel
        title="Delete the project"
        lead="Its files, releases, keys and members' access are gone for good."
      >
        <Allowed {...need}>
          <div class="actions">
            <ConfirmButton
              kind="danger"
              icon="trash"
              text="Delete project"
              title={`Delete ${project.name}`}
              yes="Delete for good"
              typed={slug}
              onConfirm={remove}
            >
              Everything in the project is deleted, and no backup is made.
            </ConfirmButton>
          </div>
        </Allowed>
      </Panel>
    </>
  );
}
