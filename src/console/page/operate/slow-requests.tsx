import type { Schemas } from "../base/api.ts";
import { ago, duration, number } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { Button } from "../parts/button.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

type List = Schemas["SlowRequestList"];
type SlowRequest = List["data"][number];

const OPERATIONS: Readonly<Record<string, string>> = {
  searchEnvironment: "vector search",
  searchRelease: "vector search",
  lookUpKnowledge: "lookup",
  retrieve: "retrieval",
};

const WAYS: Readonly<Record<string, string>> = {
  hybrid: "meaning and words",
  semantic: "meaning",
  keyword: "words",
};

/** What was asked, and by which way. */
function What({ of: { operation, query, mode } }: { of: SlowRequest }) {
  return (
    <>
      {query !== null && <b>{query}</b>}{" "}
      <span class="muted small">
        {OPERATIONS[operation] ?? operation}
        {mode !== null && ` by ${WAYS[mode] ?? mode}`}
      </span>
    </>
  );
}

/** What the search did, as far as its kind says. */
function workOf({ estimates, comparisons, matches }: SlowRequest): string {
  const parts = [
    [estimates, "estimates"],
    [comparisons, "comparisons"],
    [matches, "matches"],
  ] as const;
  return parts
    .filter(([count]) => count !== null)
    .map(([count, what]) => `${number(count as number)} ${what}`)
    .join(", ");
}

/** The slowest searches of a project in the last hour, with what they did. */
export function SlowRequests({ project }: { project: string }) {
  const slow = useOfProject<List>([project, "slow-requests"]);
  return (
    <Panel
      title="Slow searches"
      lead="The slowest of the last hour on the node that answers."
      actions={
        <Button kind="quiet" onClick={slow.reload}>
          Reload
        </Button>
      }
    >
      <Loaded of={slow}>
        {({ data }) => (
          <Table
            label="Slow searches"
            rows={data}
            keyOf={({ request_id }) => request_id}
            empty="Nobody searched this project in the last hour."
            columns={[
              { name: "Took", end: true, value: (each) => <b>{duration(each.duration_ms)}</b> },
              { name: "Waited", end: true, value: ({ queue_ms }) => duration(queue_ms) },
              { name: "What", value: (each) => <What of={each} /> },
              { name: "In", value: (each) => each.release ?? each.environment ?? "" },
              { name: "Plan", value: ({ plan }) => plan && <Badge>{plan}</Badge> },
              { name: "Work", value: workOf },
              { name: "When", value: ({ at }) => ago(at) },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
