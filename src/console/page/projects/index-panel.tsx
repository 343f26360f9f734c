import { ago, bytes, counted, number } from "../base/format.ts";
import { useRefreshed } from "../base/resource.ts";
import { client, type Schemas } from "../base/service.ts";
import { Badge, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";

type State = Schemas["IndexState"];

/** Servers report every few seconds. */
const REFRESH_MS = 5_000;

/** The share of a project's changes that is searchable, as text. */
export function IndexPanel({ project }: { project: string }) {
  const read = (signal: AbortSignal) => client.getIndexState(project, { signal });
  const state = useRefreshed(project, read, REFRESH_MS);
  return (
    <Panel title="Index" actions={state.value && <StateBadge of={state.value} />}>
      <Loaded of={state}>
        {(value) => (
          <>
            <p>{sentenceOf(value)}</p>
            {value.data.map((index) => (
              <IndexLine key={`${index.server} ${index.dimension}`} index={index} />
            ))}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** The state of a project's index. A project that is not in memory is not a fault: the next search loads it. */
export function StateBadge({ of: { complete, data } }: { of: State }) {
  if (complete) return <Badge kind="good">complete</Badge>;
  return data.length === 0 ? <Badge>not loaded</Badge> : <Badge kind="warn">building</Badge>;
}

function sentenceOf({ complete, data, embeddings_waiting: waiting }: State): string {
  const pending = Math.max(0, ...data.map(({ pending_changes }) => pending_changes));
  const waits = waiting === 0 ? "" : ` ${counted(waiting, "file")} wait for their embeddings.`;
  if (data.length === 0) return `No server has the project in memory; a search loads it.${waits}`;
  if (pending > 0) return `${counted(pending, "change")} cannot be found yet.${waits}`;
  const graph = complete ? "" : " The graphs are being built; until then searches scan.";
  return `Everything that was written can be found.${graph}${waits}`;
}

function IndexLine({ index }: { index: State["data"][number] }) {
  const { dimension, vectors, documents, graph_backlog: backlog, recall } = index;
  const isText = dimension === null;
  const size = isText ? counted(documents, "text") : counted(vectors, "vector");
  return (
    <div class="named-line">
      <p>
        {isText ? "Words" : `Vectors of ${dimension}`}
        <span class="muted small">
          {size}, {bytes(index.memory_bytes)}
        </span>
      </p>
      <p class="muted small">
        {isText ? "" : `${number(vectors - backlog)} of ${number(vectors)} in the graph, `}
        {recall === null ? "" : `recall ${number(recall, 4)}, `}
        server {index.server.slice(0, 8)}, {ago(index.updated_at)}
      </p>
    </div>
  );
}
