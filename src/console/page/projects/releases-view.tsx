import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, listAll, projectPath, type Schemas } from "../base/api.ts";
import { dateTime, number } from "../base/format.ts";
import { defaultEnvironment } from "../base/places.ts";
import { useResource } from "../base/resource.ts";
import { changeParams } from "../base/router.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Button } from "../parts/button.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { ComparePanel } from "./compare.tsx";
import { Environments } from "./environments.tsx";
import type { ProjectProps } from "./project-props.ts";

type Release = Schemas["ReleaseItem"];

function usePlaces(slug: string) {
  return useResource(`places:${slug}`, async (signal) => {
    const [environments, releases] = await Promise.all([
      listAll<Schemas["EnvironmentItem"]>(projectPath(slug, "environments"), { signal }),
      listAll<Release>(projectPath(slug, "releases"), { signal }),
    ]);
    return { environments, releases };
  });
}

/** The environments, the releases, and the differences between two of them. */
export function ReleasesView(props: ProjectProps) {
  const { project, reload } = props;
  const places = usePlaces(project.slug);
  const onChanged = () => {
    places.reload();
    reload();
  };
  return (
    <>
      <Loaded of={places}>
        {({ environments, releases }) => (
          <div class="columns">
            <Environments
              project={project.slug}
              environments={environments}
              releases={releases}
              onChanged={onChanged}
            />
            <Releases {...props} releases={releases} onChanged={onChanged} />
          </div>
        )}
      </Loaded>
      <ComparePanel {...props} />
    </>
  );
}

interface ReleasesProps extends ProjectProps {
  readonly releases: readonly Release[];
  readonly onChanged: () => void;
}

function Releases({ project, releases, onChanged }: ReleasesProps) {
  return (
    <Panel title="Releases" lead="A release is a working set that no longer changes.">
      <Table
        label="Releases"
        rows={releases}
        keyOf={({ id }) => id}
        empty="No releases yet."
        columns={[
          {
            name: "Name",
            value: ({ name, frozen_at: frozen, environments }) => (
              <span class="actions">
                {name}
                {frozen === null && <Badge kind="warn">being filled</Badge>}
                {environments.map((each) => (
                  <Badge key={each} kind="good">
                    {each}
                  </Badge>
                ))}
              </span>
            ),
          },
          { name: "Files", end: true, value: ({ files }) => number(files) },
          { name: "Created", value: ({ created_at: at }) => dateTime(at) },
          {
            name: "",
            value: ({ name }) => (
              <Button
                kind="quiet"
                label={`Compare ${name}`}
                onClick={() => changeParams({ base: `release:${name}` }, { replace: true })}
              >
                Compare
              </Button>
            ),
          },
        ]}
      />
      <Allowed permission="releases.write" project={project.slug} atLeast="editor">
        <CreateRelease project={project} onCreated={onChanged} />
      </Allowed>
    </Panel>
  );
}

interface CreateReleaseProps {
  readonly project: ProjectProps["project"];
  readonly onCreated: () => void;
}

function CreateRelease({ project, onCreated }: CreateReleaseProps) {
  const { slug, environments = [] } = project;
  const [name, setName] = useState("");
  const [environment, setEnvironment] = useState(defaultEnvironment(project));
  const create = useAction(async () => {
    await call(projectPath(slug, "releases"), { method: "POST", json: { name, environment } });
    setName("");
    onCreated();
  });
  return (
    <Form action={create} submit="Create release">
      <TextField label="Name" required value={name} onInput={setName} placeholder="v1.0.0" />
      <Select
        label="From the working set of"
        value={environment}
        options={environments.map((each) => ({ value: each.name, label: each.name }))}
        onChange={setEnvironment}
      />
    </Form>
  );
}
