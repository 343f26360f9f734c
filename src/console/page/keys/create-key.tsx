import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, type Schemas } from "../base/api.ts";
import type { Project } from "../base/projects.ts";
import { Field, Form, Select, TextField } from "../parts/form.tsx";

interface CreateKeyProps {
  readonly projects: readonly Project[];
  readonly onCreated: (key: string) => void;
}

export function CreateKey({ projects, onCreated }: CreateKeyProps) {
  const [name, setName] = useState("");
  const [project, setProject] = useState("");
  const [scopes, setScopes] = useState("");
  const [expires, setExpires] = useState("");
  const action = useAction(async () => {
    const json = {
      name,
      ...(project === "" ? {} : { project_id: project }),
      scopes: scopes.split(/[\s,]+/).filter(Boolean),
      ...(expires === "" ? {} : { expires_at: new Date(expires).toISOString() }),
    };
    const { body } = await call<Schemas["CreatedApiKey"]>("api-keys", { method: "POST", json });
    setName("");
    onCreated(body.key);
  });
  const every = { value: "", label: "All that you reach" };
  const each = projects.map((of) => ({ value: of.id, label: of.name }));
  return (
    <Form action={action} submit="Create key">
      <TextField label="Name" required value={name} onInput={setName} />
      <Select label="Project" value={project} options={[every, ...each]} onChange={setProject} />
      <TextField
        label="Permissions"
        hint="Empty: all of this credential."
        placeholder="search.query files.read"
        value={scopes}
        onInput={setScopes}
      />
      <Field label="Expires" hint="Empty: never.">
        <input
          type="datetime-local"
          value={expires}
          onInput={(event) => setExpires(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}
