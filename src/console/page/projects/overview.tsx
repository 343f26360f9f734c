import { bytes, dateTime, number } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { client } from "../base/service.ts";
import { Facts, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { IndexPanel } from "./index-panel.tsx";
import type { ProjectProps } from "./project-props.ts";

const NAMES = { files: "Files", bytes: "Data", chunks: "Chunks" } as const;

/** The overview of a project. */
export function Overview({ project }: ProjectProps) {
  const { slug, embedder, created_at } = project;
  return (
    <>
      <div class="columns">
        <IndexPanel project={slug} />
        <Panel title="Project">
          <Facts
            of={[
              ["Embedder", embedder ?? "none: found by words only"],
              ["Slug", <code class="name">{slug}</code>],
              ["Created", created_at === undefined ? "unknown" : dateTime(created_at)],
            ]}
          />
        </Panel>
      </div>
      <QuotasPanel project={slug} />
    </>
  );
}

/** The storage of the project and its quotas. */
function QuotasPanel({ project }: { project: string }) {
  const quotas = useResource(project, (signal) => client.getQuotas(project, { signal }));
  return (
    <Panel
      title="Stored"
      lead="Files of all environments and releases, and the texts, fields and embeddings of all their versions."
    >
      <Loaded of={quotas}>
        {({ data }) => (
          <Facts
            of={data.map(({ quota, used, allowed }) => {
              const shown = quota === "bytes" ? bytes : number;
              const limit = allowed === null ? ", no limit" : ` of ${shown(allowed)}`;
              return [NAMES[quota], `${shown(used)}${limit}`];
            })}
          />
        )}
      </Loaded>
    </Panel>
  );
}
