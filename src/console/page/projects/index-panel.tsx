import { useEffect } from "preact/hooks";
import type { Schemas } from "../base/api.ts";
import { ago, bytes, counted, number } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { Badge, Bar, Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";

export type State = Schemas["IndexState"];
type Index = State["data"][number];

/** Servers report every few seconds. */
const REFRESH_MS = 5_000;

/** The share of a project's changes that is searchable, as text and as a bar. */
export function IndexPanel({ project }: { project: string }) {
  const state = useOfProject<State>([project, "index-state"]);
  useEffect(() => {
    const timer = setInterval(state.reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [state.reload]);
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

function IndexLine({ index }: { index: Index }) {
  const { dimension, vectors, documents, graph_backlog: backlog, recall } = index;
  const isText = dimension === null;
  const size = isText ? counted(documents, "text") : counted(vectors, "vector");
  const name = isText ? "Words" : `Vectors of ${dimension}`;
  return (
    <div class="index-line">
      <p>
        {name}
        <span class="muted small">
          {size}, {bytes(index.memory_bytes)}
        </span>
      </p>
      {!isText && vectors > 0 && (
        <Bar
          label={`Vectors of ${dimension} in the graph`}
          value={vectors - backlog}
          max={vectors}
        />
      )}
      <p class="muted small">
        {isText ? "" : `${number(vectors - backlog)} of ${number(vectors)} in the graph, `}
        {recall === null ? "" : `recall ${number(recall, 4)}, `}
        server {index.server.slice(0, 8)}, {ago(index.updated_at)}
      </p>
    </div>
  );
}
