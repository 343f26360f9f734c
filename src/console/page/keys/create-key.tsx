import { useState } from "preact/hooks";
import { PERMISSIONS } from "../../../auth/principal.ts";
import { useAction } from "../base/action.ts";
import { call, type Schemas } from "../base/api.ts";
import type { Project } from "../base/projects.ts";
import { Choices, Field, Form, Select, TextField } from "../parts/form.tsx";

const CHOICES = Object.entries(PERMISSIONS).map(([value, label]) => ({ value, label }));

interface CreateKeyProps {
  readonly projects: readonly Project[];
  readonly onCreated: (key: string) => void;
}

export function CreateKey({ projects, onCreated }: CreateKeyProps) {
  const [name, setName] = useState("");
  const [project, setProject] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [expires, setExpires] = useState("");
  const action = useAction(async () => {
    const json = {
      name,
      ...(project === "" ? {} : { project_id: project }),
      scopes,
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
      <Field label="Expires" hint="Empty: never.">
        <input
          type="datetime-local"
          value={expires}
          onInput={(event) => setExpires(event.currentTarget.value)}
        />
      </Field>
      <Choices
        label="Permissions"
        none="all of this credential"
        options={CHOICES}
        chosen={scopes}
        onChange={setScopes}
      />
    </Form>
  );
}
