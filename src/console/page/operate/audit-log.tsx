import { listAll, projectPath, type Schemas } from "../base/api.ts";
import { dateTime } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/page.tsx";
import { Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { usePages } from "./pages.ts";

type Entry = Schemas["AuditEntry"];
type Member = Schemas["ProjectMember"];

/** `member.changed` in words. */
const nameOf = ({ action }: Entry) => action.replace(".", " ");

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

function Who({ of: { user, via }, people }: { of: Entry; people: ReadonlyMap<string, string> }) {
  return (
    <>
      {user === null ? "the operator" : (people.get(user) ?? user)}{" "}
      <span class="muted small">by {via ?? "SQL"}</span>
    </>
  );
}

/** The names of a project's members by their ids. Former members are shown by their ids. */
function usePeople(project: string): ReadonlyMap<string, string> {
  const { value } = useResource(`people:${project}`, async (signal) => {
    const members = await listAll<Member>(projectPath(project, "members"), { signal });
    return new Map(members.map(({ id, email, name }) => [id, email ?? (name || id)]));
  });
  return value ?? new Map();
}

/** True for a detail that is shown. The id of a key is not shown if its name or prefix is. */
const isTold = (details: Entry["details"]) => (name: string) =>
  !(name === "key" && ("name" in details || "key_prefix" in details));

function Details({ of, people }: { of: Entry; people: ReadonlyMap<string, string> }) {
  const told = Object.entries(of.details).filter(([name]) => isTold(of.details)(name));
  return (
    <ul class="details">
      {told.map(([name, value]) => (
        <li key={name}>
          <span class="muted">{name.replaceAll("_", " ")}</span>{" "}
          {people.get(String(value)) ?? textOf(value)}
        </li>
      ))}
    </ul>
  );
}

/** The changes of a project and their authors. */
export function AuditLog({ project }: { project: string }) {
  const people = usePeople(project);
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
                { name: "Who", value: (entry) => <Who of={entry} people={people} /> },
                { name: "Details", value: (entry) => <Details of={entry} people={people} /> },
              ]}
            />
            {next !== null && <Button onClick={more}>Show older ones</Button>}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
