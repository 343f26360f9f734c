import { useEffect, useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { call, type Schemas } from "../base/api.ts";
import { counted, number } from "../base/format.ts";
import { defaultPlace, placeOptions } from "../base/places.ts";
import { useOfProject } from "../base/resource.ts";
import { changeParams, hrefOf } from "../base/router.ts";
import { Button } from "../parts/button.tsx";
import { Select } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Empty, Failure, Loaded } from "../parts/states.tsx";
import type { ProjectProps } from "./project-props.ts";

type Comparison = Schemas["Comparison"];
type FileChange = Comparison["data"][number];

const KINDS = { added: "good", changed: "plain", removed: "warn" } as const;

/** `environment:production` as the parameters of one side. */
function sideOf(side: string, prefix: "" | "base_"): Record<string, string> {
  const [kind = "", ...name] = side.split(":");
  return { [`${prefix}${kind}`]: name.join(":") };
}

/** The files that differ between two environments or releases, both chosen from lists. */
export function ComparePanel({ project, params }: ProjectProps) {
  const { slug } = project;
  const here = defaultPlace(project);
  const options = placeOptions(project);
  const base = params["base"] ?? options.find(({ value }) => value !== here)?.value ?? here;
  const other = params["with"] ?? here;
  const query = { ...sideOf(base, "base_"), ...sideOf(other, ""), limit: 100 };
  const compared = useOfProject<Comparison>(base === other ? undefined : [slug, "compare"], query);
  return (
    <Panel title="Compare">
      <div class="fields">
        <Select
          label="From"
          value={base}
          options={options}
          onChange={(value) => changeParams({ base: value }, { replace: true })}
        />
        <Select
          label="To"
          value={other}
          options={options}
          onChange={(value) => changeParams({ with: value }, { replace: true })}
        />
      </div>
      {base === other ? (
        <Empty title="Choose two different places." />
      ) : (
        <Loaded of={compared}>
          {(value) => (
            <Changes key={`${base} ${other}`} first={value} slug={slug} sides={[base, other]} />
          )}
        </Loaded>
      )}
    </Panel>
  );
}

interface ChangesProps {
  readonly first: Comparison;
  readonly slug: string;
  readonly sides: readonly [base: string, other: string];
}

function Changes({ first, slug, sides: [base, other] }: ChangesProps) {
  const [pages, setPages] = useState([first]);
  useEffect(() => setPages([first]), [first]);
  const next = pages.at(-1)?.page_info.next ?? null;
  const more = useAction(async () => {
    if (next === null) return;
    const { body } = await call<Comparison>(next);
    setPages((before) => [...before, body]);
  });
  const { added, changed, removed } = first;
  if (added + changed + removed === 0) return <Empty title="Both hold the same files." />;
  const hrefTo = ({ change, path }: FileChange) =>
    hrefOf(["search"], { project: slug, in: change === "removed" ? base : other, file: path });
  return (
    <>
      <p role="status">
        {counted(added, "file")} added, {number(changed)} changed, {number(removed)} removed
      </p>
      <ul class="changes">
        {pages
          .flatMap(({ data }) => data)
          .map((each) => (
            <li key={each.path}>
              <Badge kind={KINDS[each.change]}>{each.change}</Badge>
              <a href={hrefTo(each)}>{each.path}</a>
            </li>
          ))}
      </ul>
      {more.error !== undefined && <Failure error={more.error} />}
      {next !== null && (
        <Button onClick={more.run} disabled={more.running}>
          More
        </Button>
      )}
    </>
  );
}
