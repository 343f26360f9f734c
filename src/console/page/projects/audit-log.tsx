import { dateTime } from "../base/format.ts";
import { usePages, useResource } from "../base/resource.ts";
import { client, listed, type Schemas } from "../base/service.ts";
import { Panel } from "../parts/page.tsx";
import { Loaded, More } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { ProjectProps } from "./project-props.ts";

type Entry = Schemas["AuditEntry"];

/** The names of members by their ids. Former members are shown by their ids. */
type People = ReadonlyMap<string, string>;

function usePeople(project: string): People {
  const { value } = useResource(`people:${project}`, async (signal) => {
    const members = await listed((page) => client.allMembers(project, page), signal);
    return new Map(members.map(({ id, email, name }) => [id, email ?? (name || id)]));
  });
  return value ?? new Map();
}

function Who({ of: { user, via }, people }: { of: Entry; people: People }) {
  return (
    <>
      {user === null ? "the operator" : (people.get(user) ?? user)}{" "}
      <span class="muted small">by {via ?? "SQL"}</span>
    </>
  );
}

/** The details of an entry. The id of a key is not shown if its name or prefix is. */
function Details({ of: { details }, people }: { of: Entry; people: People }) {
  const isKeyNamed = "name" in details || "key_prefix" in details;
  const told = Object.entries(details).filter(([name]) => name !== "key" || !isKeyNamed);
  const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
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
export function AuditLog({ project: { slug } }: ProjectProps) {
  const people = usePeople(slug);
  const entries = usePages(slug, (page) => client.listAuditEntries(slug, page));
  return (
    <Panel title="Audit log" lead="Who changed what, newest first. Only owners see it.">
      <Loaded of={entries}>
        {() => (
          <>
            <Table
              label="Audit log"
              rows={entries.items}
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
                { name: "What", value: ({ action }) => <b>{action.replace(".", " ")}</b> },
                { name: "Who", value: (entry) => <Who of={entry} people={people} /> },
                { name: "Details", value: (entry) => <Details of={entry} people={people} /> },
              ]}
            />
            <More of={entries.more} text="Show older ones" />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
