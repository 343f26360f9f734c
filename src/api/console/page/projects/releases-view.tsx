import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, projectPath } from "../base/api.ts";
import { defaultEnvironment } from "../base/places.ts";
import { changeParams } from "../base/router.ts";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Table } from "../parts/table.tsx";
import { ComparePanel } from "./compare.tsx";
import { Environments } from "./environments.tsx";
import type { ProjectProps } from "./project-props.ts";

/** What environments serve, the releases, and what differs between two of them. */
export function ReleasesView(props: ProjectProps) {
  return (
    <>
      <div class="columns">
        <Environments {...props} />
        <Releases {...props} />
      </div>
      <ComparePanel {...props} />
    </>
  );
}

function Releases({ project, reload }: ProjectProps) {
  const { environments = [], releases = [], slug } = project;
  const [name, setName] = useState("");
  const [environment, setEnvironment] = useState(defaultEnvironment(project));
  const create = useAction(async () => {
    await call(projectPath(slug, "releases"), { method: "POST", json: { name, environment } });
    setName("");
    reload();
  });
  const served = (id: string) =>
    environments.filter((each) => each.active_release_id === id).map((each) => each.name);
  return (
    <Panel title="Releases" lead="A release is a working set that no longer changes.">
      <Table
        label="Releases"
        rows={releases}
        keyOf={({ id }) => id}
        empty="No releases yet."
        columns={[
          { name: "Name", value: (release) => release.name },
          {
            name: "Served by",
            value: ({ id }) => served(id).map((each) => <Badge kind="good">{each}</Badge>),
          },
          {
            name: "",
            value: (release) => (
              <button
                type="button"
                class="button quiet"
                aria-label={`Compare ${release.name}`}
                onClick={() => changeParams({ base: `release:${release.name}` }, { replace: true })}
              >
                Compare
              </button>
            ),
          },
        ]}
      />
      <Form action={create} submit="Create release">
        <TextField label="Name" required value={name} onInput={setName} placeholder="v1.0.0" />
        <Select
          label="From"
          value={environment}
          options={environments.map((each) => ({ value: each.name, label: each.name }))}
          onChange={setEnvironment}
        />
      </Form>
    </Panel>
  );
}
