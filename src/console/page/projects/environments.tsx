import { number } from "../base/format.ts";
import { useAction } from "../base/resource.ts";
import { useRefusal } from "../base/rights.ts";
import { client, type Schemas } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Failure } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

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
    const change = { active_release: release === "" ? null : release };
    await client.updateEnvironment(project, environment, change);
    onChanged();
  });
  const need = { permission: "releases.write", project, atLeast: "editor" } as const;
  const mayActivate = useRefusal(need) === null;
  const options = [
    { value: "", label: "Working set" },
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
      <Allowed {...need}>
        <Form
          submit="Add environment"
          onSubmit={({ name = "" }) => client.createEnvironment(project, { name }).then(onChanged)}
        >
          <TextField label="Name of the environment" name="name" required placeholder="staging" />
        </Form>
      </Allowed>
    </Panel>
  );
}
