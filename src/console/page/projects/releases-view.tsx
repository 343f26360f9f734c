import { dateTime, number } from "../base/format.ts";
import { defaultEnvironment } from "../base/places.ts";
import { useResource } from "../base/resource.ts";
import { client, listed, type Schemas } from "../base/service.ts";
import { Allowed } from "../parts/allowed.tsx";
import { Form, Select, TextField } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { ComparePanel } from "./compare.tsx";
import { Environments } from "./environments.tsx";
import type { ProjectProps } from "./project-props.ts";

/** The environments, the releases, and the differences between two of them. */
export function ReleasesView(props: ProjectProps) {
  const { project, reload } = props;
  const { slug } = project;
  const places = useResource(slug, async (signal) => {
    const [environments, releases] = await Promise.all([
      listed((page) => client.allEnvironments(slug, page), signal),
      listed((page) => client.allReleases(slug, page), signal),
    ]);
    return { environments, releases };
  });
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
              project={slug}
              environments={environments}
              releases={releases}
              onChanged={onChanged}
            />
            <Releases project={project} releases={releases} onCreated={onChanged} />
          </div>
        )}
      </Loaded>
      <ComparePanel {...props} />
    </>
  );
}

interface ReleasesProps {
  readonly project: ProjectProps["project"];
  readonly releases: readonly Schemas["ReleaseItem"][];
  readonly onCreated: () => void;
}

function Releases({ project, releases, onCreated }: ReleasesProps) {
  const { slug, environments = [] } = project;
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
            value: ({ name, frozen_at: frozen, environments: serving }) => (
              <span class="actions">
                {name}
                {frozen === null && <Badge kind="warn">being filled</Badge>}
                {serving.map((each) => (
                  <Badge key={each} kind="good">
                    {each}
                  </Badge>
                ))}
              </span>
            ),
          },
          { name: "Files", end: true, value: ({ files }) => number(files) },
          { name: "Created", value: ({ created_at: at }) => dateTime(at) },
        ]}
      />
      <Allowed permission="releases.write" project={slug} atLeast="editor">
        <Form
          submit="Create release"
          onSubmit={({ name = "", environment = "" }) =>
            client.createRelease(slug, { name, environment }).then(onCreated)
          }
        >
          <TextField label="Name" name="name" required placeholder="v1.0.0" />
          <Select
            label="From the working set of"
            name="environment"
            value={defaultEnvironment(project)}
            options={environments.map(({ name }) => ({ value: name, label: name }))}
          />
        </Form>
      </Allowed>
    </Panel>
  );
}
