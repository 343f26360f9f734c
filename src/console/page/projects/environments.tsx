import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, projectPath, type Schemas } from "../base/api.ts";
import { number } from "../base/format.ts";
import { useRefusal } from "../base/rights.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Failure } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

const WORKING_SET = "Working set";

interface EnvironmentsProps {
  /** The slug of the project. */
  readonly project: string;
  readonly environments: readonly Schemas["EnvironmentItem"][];
  readonly releases: readonly Schemas["ReleaseItem"][];
  readonly onChanged: () => void;
}

/** The environments, with a choice of the release that each serves, and a form for a new one. */
export function Environments(props: EnvironmentsProps) {
  const { project, environments, releases, onChanged } = props;
  const activate = useAction(async (environment: string, release: string) => {
    const path = projectPath(project, "environments", environment);
    const json = { active_release: release === "" ? null : release };
    await call(path, { method: "PATCH", json });
    onChanged();
  });
  const need = { permission: "releases.write", project, atLeast: "editor" } as const;
  const mayActivate = useRefusal(need) === null;
  const options = [
    { value: "", label: WORKING_SET },
    ...releases.map(({ name }) => ({ value: name, label: name, group: "Releases" })),
  ];
  return (
    <Panel title="Environments" lead="An environment serves its working set, or a release.">
      <Table
        label="Environments"
        rows={environments}
        keyOf={({ id }) => id}
        columns={[
          {
            name: "Name",
            value: ({ name, protected: isProtected }) => (
              <>
                {name} {isProtected && <Badge>protected</Badge>}
              </>
            ),
          },
          { name: "Files", end: true, value: ({ files }) => number(files) },
          {
            name: "Serves",
            value: ({ name, active_release: active }) => (
              <Select
                label={`${name} serves`}
                labelHidden
                value={active ?? ""}
                options={options}
                disabled={activate.running || !mayActivate}
                onChange={(release) => activate.run(name, release)}
              />
            ),
          },
        ]}
      />
      {activate.error !== undefined && <Failure error={activate.error} />}
      <Allowed permission="releases.write" project={project} atLeast="editor">
        <AddEnvironment project={project} onAdded={onChanged} />
      </Allowed>
    </Panel>
  );
}

function AddEnvironment({ project, onAdded }: { project: string; onAdded: () => void }) {
  const [name, setName] = useState("");
  const add = useAction(async () => {
    await call(projectPath(project, "environments"), { method: "POST", json: { name } });
    setName("");
    onAdded();
  });
  return (
    <Form action={add} submit="Add environment">
      <TextField
        label="Name of the environment"
        required
        value={name}
        onInput={setName}
        placeholder="staging"
      />
    </Form>
  );
}
