import { projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { usePages } from "./pages.ts";

type Entry = Schemas["AuditEntry"];

/** `member.changed` in words. */
const nameOf = ({ action }: Entry) => action.replace(".", " ");

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

function Who({ of: { user, via } }: { of: Entry }) {
  return (
    <>
      {user ?? "the operator"} <span class="muted small">by {via ?? "SQL"}</span>
    </>
  );
}

function Details({ of }: { of: Entry }) {
  return (
    <ul class="details">
      {Object.entries(of.details).map(([name, value]) => (
        <li key={name}>
          <span class="muted">{name.replaceAll("_", " ")}</span> {textOf(value)}
        </li>
      ))}
    </ul>
  );
}

/** Who did what with a project. */
export function AuditLog({ project }: { project: string }) {
  const { list, more } = usePages<Entry>(projectPath(project, "audit"));
  return (
    <Panel title="Audit log" lead="Who changed what, newest first. Only owners see it.">
      <Loaded of={list}>
        {({ items, next }) => (
          <>
            <Table
              label="Audit log"
              rows={items}
              keyOf={(entry) => `${entry.at} ${entry.action} ${JSON.stringify(entry.details)}`}
              empty="Nothing has been changed yet."
              columns={[
                {
                  name: "When",
                  value: ({ at }) => (
                    <time class="nowrap" dateTime={at}>
                      {dateTime(at)}
                    </time>
                  ),
                },
                { name: "What", value: (entry) => <b>{nameOf(entry)}</b> },
                { name: "Who", value: (entry) => <Who of={entry} /> },
                { name: "Details", value: (entry) => <Details of={entry} /> },
              ]}
            />
            {next !== null && <Button onClick={more}>Show older ones</Button>}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
