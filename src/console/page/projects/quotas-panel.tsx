import type { Schemas } from "../base/api.ts";
import { bytes, number } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { Bar, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";

type Quota = Schemas["Quotas"]["data"][number];

const NAMES = { files: "Files", bytes: "Data", chunks: "Chunks" } as const;

/** The storage of the project and its quotas. */
export function QuotasPanel({ project }: { project: string }) {
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
