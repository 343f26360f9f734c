import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, projectPath } from "../base/api.ts";
import { hrefOf, navigate } from "../base/router.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Form, TextField } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { EmbedderSelect } from "./embedder-select.tsx";
import type { ProjectProps } from "./project-props.ts";

/** The name and the embedder of a project, and its deletion. */
export function SettingsView({ project, reload }: ProjectProps) {
  const { slug } = project;
  const need = { permission: "projects.write", project: slug, atLeast: "owner" } as const;
  const [name, setName] = useState(project.name);
  const [description, setDescription] = useState(project.description ?? "");
  const [embedder, setEmbedder] = useState(project.embedder ?? "");
  const [deleting, setDeleting] = useState(false);
  const save = useAction(async () => {
    const json = {
      name,
      description,
      ...(embedder === "" || embedder === project.embedder ? {} : { embedder }),
    };
    await call(projectPath(slug), { method: "PATCH", json });
    reload();
  });
  const remove = async () => {
    await call(projectPath(slug), { method: "DELETE", query: { confirm: slug } });
    navigate(hrefOf(["projects"]));
  };
  return (
    <>
      <Panel title="Settings" lead="The embedder can be changed while the project has no chunks.">
        <Allowed {...need}>
          <Form action={save} submit="Save">
            <TextField label="Name" required value={name} onInput={setName} />
            <TextField label="Description" value={description} onInput={setDescription} />
            <EmbedderSelect
              optional={project.embedder === undefined}
              value={embedder}
              onChange={setEmbedder}
            />
          </Form>
        </Allowed>
      </Panel>
      <Panel
        title="Delete the project"
        lead="Its files, releases, keys and members' access are gone for good."
      >
        <Allowed {...need}>
          <div class="actions">
            <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete project
            </Button>
          </div>
        </Allowed>
        {deleting && (
          <Confirm
            title={`Delete ${project.name}`}
            yes="Delete for good"
            typed={slug}
            onConfirm={remove}
            onClose={() => setDeleting(false)}
          >
            Everything in the project is deleted, and no backup is made.
          </Confirm>
        )}
      </Panel>
    </>
  );
}
