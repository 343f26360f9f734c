import { useState } from "preact/hooks";
import { PERMISSIONS } from "../../../auth/principal.ts";
import { useAction } from "../base/action.ts";
import { call, listAll, type Schemas } from "../base/api.ts";
import { ago, dateTime } from "../base/format.ts";
import { type Project, useProjects } from "../base/projects.ts";
import { useResource } from "../base/resource.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button, CopyButton } from "../parts/button.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Choices, Field, Form, Select, TextField } from "../parts/form.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

const CHOICES = Object.entries(PERMISSIONS).map(([value, label]) => ({ value, label }));

type Key = Schemas["ApiKey"];

/** The caller's API keys: list, create, revoke. */
export function KeysView() {
  const projects = useProjects();
  const keys = useResource("keys", (signal) => listAll<Key>("api-keys", { signal }));
  const [created, setCreated] = useState<string | undefined>(undefined);
  const [revoked, setRevoked] = useState<Key | undefined>(undefined);
  const onCreated = (key: string) => {
    setCreated(key);
    keys.reload();
  };
  const revoke = async (key: Key) => {
    await call(`api-keys/${key.id}`, { method: "DELETE" });
    keys.reload();
  };
  return (
    <Page title="API keys" lead="Keys act for you, with all of your permissions or with some.">
      <Panel title="Create a key">
        <Allowed permission="api_keys.create">
          <CreateKey projects={projects.value ?? []} onCreated={onCreated} />
        </Allowed>
        {created !== undefined && <Secret text={created} />}
      </Panel>
      <Panel title="Keys">
        <Loaded of={keys}>
          {(list) => <KeyTable keys={list} projects={projects.value ?? []} onRevoke={setRevoked} />}
        </Loaded>
      </Panel>
      {revoked !== undefined && (
        <Confirm
          title={`Revoke ${revoked.name}`}
          yes="Revoke"
          onConfirm={() => revoke(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          What uses the key {revoked.key_prefix} stops working.
        </Confirm>
      )}
    </Page>
  );
}

/** A new key, which is shown only once. */
function Secret({ text }: { text: string }) {
  return (
    <div class="secret" role="status">
      <p>Copy the new key now. It is not shown again.</p>
      <p class="actions">
        <code id="new-key">{text}</code>
        <CopyButton text={text} />
      </p>
    </div>
  );
}

interface KeyTableProps {
  readonly keys: readonly Key[];
  readonly projects: readonly Project[];
  readonly onRevoke: (key: Key) => void;
}

function KeyTable({ keys, projects, onRevoke }: KeyTableProps) {
  const slugs = new Map(projects.map(({ id, slug }) => [id, slug]));
  const projectOf = ({ project_id: id }: Key) => (id === null ? "all" : (slugs.get(id) ?? id));
  return (
    <Table
      label="Keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { name: "Name", value: ({ name }) => name },
        { name: "Key", value: ({ key_prefix }) => <code class="nowrap">{key_prefix}…</code> },
        { name: "Project", value: projectOf },
        { name: "Permissions", value: ({ scopes }) => scopes.join(", ") || "all" },
        {
          name: "Last used",
          value: ({ last_used_at: at }) => (at === null ? "never" : ago(at)),
        },
        {
          name: "Expires",
          value: ({ expires_at: at }) => (at === null ? "never" : dateTime(at)),
        },
        {
          name: "",
          value: (key) => (
            <Button kind="quiet" label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
              Revoke
            </Button>
          ),
        },
      ]}
    />
  );
}

interface CreateKeyProps {
  readonly projects: readonly Project[];
  readonly onCreated: (key: string) => void;
}

function CreateKey({ projects, onCreated }: CreateKeyProps) {
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
