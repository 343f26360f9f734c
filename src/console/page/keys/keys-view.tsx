import { useState } from "preact/hooks";
import { PERMISSIONS } from "../../../auth/principal.ts";
import { ago, dateTime } from "../base/format.ts";
import { useProjects, useResource } from "../base/resource.ts";
import { client, listed, type Project, type Schemas } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { CopyButton } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

/** The caller's API keys: list, create, revoke. */
export function KeysView() {
  const { value: projects = [] } = useProjects();
  const keys = useResource("keys", (signal) => listed((page) => client.allApiKeys(page), signal));
  return (
    <Page title="API keys" lead="Keys act for you, with all of your permissions or with some.">
      <Panel title="Create a key">
        <Allowed permission="api_keys.create">
          <CreateKey projects={projects} onCreated={keys.reload} />
        </Allowed>
      </Panel>
      <Panel title="Keys">
        <Loaded of={keys}>
          {(list) => <KeyTable keys={list} projects={projects} onRevoked={keys.reload} />}
        </Loaded>
      </Panel>
    </Page>
  );
}

interface KeyTableProps {
  readonly keys: readonly Schemas["ApiKey"][];
  readonly projects: readonly Project[];
  readonly onRevoked: () => void;
}

function KeyTable({ keys, projects, onRevoked }: KeyTableProps) {
  const slugOf = (id: string) => projects.find((project) => project.id === id)?.slug ?? id;
  return (
    <Table
      label="Keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { name: "Name", value: ({ name }) => <span class="name">{name}</span> },
        { name: "Key", value: ({ key_prefix }) => <code class="nowrap">{key_prefix}…</code> },
        {
          name: "Project",
          value: ({ project_id: id }) =>
            id === null ? "all" : <span class="name">{slugOf(id)}</span>,
        },
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
          value: ({ id, name, key_prefix }) => (
            <ConfirmButton
              kind="quiet"
              text="Revoke"
              label={`Revoke ${name}`}
              yes="Revoke"
              onConfirm={() => client.revokeApiKey(id).then(onRevoked)}
            >
              Clients with the key {key_prefix} lose access.
            </ConfirmButton>
          ),
        },
      ]}
    />
  );
}

interface CreateKeyProps {
  readonly projects: readonly Project[];
  readonly onCreated: () => void;
}

/** The form of a key, and the new key, which is shown only once. */
function CreateKey({ projects, onCreated }: CreateKeyProps) {
  const [created, setCreated] = useState("");
  const create = async (
    { name = "", project, expires }: Readonly<Record<string, string>>,
    data: FormData,
  ) => {
    const { key } = await client.createApiKey({
      name,
      scopes: data.getAll("scopes").map(String),
      ...(project && { project_id: project }),
      ...(expires && { expires_at: new Date(expires).toISOString() }),
    });
    setCreated(key);
    onCreated();
  };
  const every = { value: "", label: "All that you reach" };
  const each = projects.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Form submit="Create key" onSubmit={create}>
        <TextField label="Name" name="name" required />
        <Select label="Project" name="project" value="" options={[every, ...each]} />
        <TextField label="Expires" name="expires" type="datetime-local" hint="Empty: never." />
        <Permissions />
      </Form>
      {created !== "" && (
        <div class="secret" role="status">
          <p>Copy the new key now. It is not shown again.</p>
          <p class="actions">
            <code id="new-key">{created}</code>
            <CopyButton text={created} />
          </p>
        </div>
      )}
    </>
  );
}

/** The choice of permissions, which is folded until it is opened. */
const Permissions = () => (
  <details class="choices">
    <summary>
      <span class="muted">Permissions:</span> all of this credential, unless some are chosen
    </summary>
    <fieldset>
      <legend class="visually-hidden">Permissions</legend>
      {Object.entries(PERMISSIONS).map(([value, text]) => (
        <label key={value}>
          <input type="checkbox" name="scopes" value={value} />
          <span>
            <code>{value}</code> <span class="muted small">{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  </details>
);
