import type { Schemas } from "../base/api.ts";
import { bytes, counted, dateTime, number } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { Bar, Facts, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { IndexPanel } from "./index-panel.tsx";
import type { ProjectProps } from "./project-props.ts";

const NAMES = { files: "Files", bytes: "Data", chunks: "Chunks" } as const;

/** The overview of a project. */
export function Overview({ project }: ProjectProps) {
  const { slug, environments = [], releases = [], users = [], embedder, created_at } = project;
  const link = (part: string, text: string) => (
    <a href={hrefOf(["projects", slug, part])}>{text}</a>
  );
  return (
    <>
      <div class="columns">
        <IndexPanel project={slug} />
        <Panel
          title="Project"
          actions={
            <a href={hrefOf(["operate", "deliveries"], { project: slug })}>Webhook deliveries</a>
          }
        >
          <Facts
            of={[
              ["Environments", link("releases", counted(environments.length, "environment"))],
              ["Releases", link("releases", counted(releases.length, "release"))],
              ["Members", link("members", counted(users.length, "member"))],
              ["Embedder", embedder ?? "none: found by words only"],
              ["Slug", <code>{slug}</code>],
              ["Created", created_at === undefined ? "unknown" : dateTime(created_at)],
            ]}
          />
        </Panel>
      </div>
      <QuotasPanel project={slug} />
    </>
  );
}

type Quota = Schemas["Quotas"]["data"][number];

/** The storage of the project and its quotas. */
function QuotasPanel({ project }: { project: string }) {
  const quotas = useOfProject<Schemas["Quotas"]>([project, "quotas"]);
  return (
    <Panel
      title="Stored"
      lead="Files of all environments and releases, and the texts, fields and embeddings of all their versions."
    >
      <Loaded of={quotas}>
        {({ data }) => data.map((each) => <QuotaLine key={each.quota} of={each} />)}
      </Loaded>
    </Panel>
  );
}

function QuotaLine({ of: { quota, used, allowed } }: { of: Quota }) {
  const shown = quota === "bytes" ? bytes : number;
  return (
    <div class="index-line">
      <p>
        {NAMES[quota]}
        <span class="muted small">
          {shown(used)}
          {allowed === null ? ", no limit" : ` of ${shown(allowed)}`}
        </span>
      </p>
      {allowed !== null && <Bar label={NAMES[quota]} value={used} max={Math.max(allowed, 1)} />}
    </div>
  );
}
