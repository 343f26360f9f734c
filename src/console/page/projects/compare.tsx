import { counted, number } from "../base/format.ts";
import { defaultPlace, type Place, placeOf, placeOptions } from "../base/places.ts";
import { usePages } from "../base/resource.ts";
import { changeParams, hrefOf } from "../base/router.ts";
import { client } from "../base/service.ts";
import { Select } from "../parts/form.tsx";
import { Badge, Panel } from "../parts/page.tsx";
import { Empty, Loaded, More } from "../parts/states.tsx";
import type { ProjectProps } from "./project-props.ts";

const KINDS = { added: "good", changed: "plain", removed: "warn" } as const;
const LIMIT = 100;

const asBase = (place: Place) =>
  "release" in place ? { baseRelease: place.release } : { baseEnvironment: place.environment };

/** The files that differ between two environments or releases, both chosen from lists. */
export function ComparePanel({ project, params }: ProjectProps) {
  const { slug } = project;
  const here = defaultPlace(project);
  const options = placeOptions(project);
  const base = params["base"] ?? options.find(({ value }) => value !== here)?.value ?? here;
  const other = params["with"] ?? here;
  const [from, to] = [placeOf(base), placeOf(other)];
  const key = base === other ? undefined : `${base} ${other}`;
  const changes = usePages(key, (page) => {
    const sides = { ...(from && asBase(from)), ...to };
    return client.compareScopes(slug, { ...sides, ...page, limit: LIMIT });
  });
  return (
    <Panel title="Compare">
      <div class="fields">
        {(["base", "with"] as const).map((side) => (
          <Select
            key={side}
            label={side === "base" ? "From" : "To"}
            value={side === "base" ? base : other}
            options={options}
            onChange={(value) => changeParams({ [side]: value }, { replace: true })}
          />
        ))}
      </div>
      {base === other ? (
        <Empty title="Choose two different places." />
      ) : (
        <Loaded of={changes}>
          {({ added, changed, removed }) => (
            <>
              <p role="status">
                {counted(added, "file")} added, {number(changed)} changed, {number(removed)} removed
              </p>
              <ul class="changes">
                {changes.items.map(({ change, path }) => {
                  const place = change === "removed" ? base : other;
                  return (
                    <li key={path}>
                      <Badge kind={KINDS[change]}>{change}</Badge>
                      <a href={hrefOf(["search"], { project: slug, in: place, file: path })}>
                        {path}
                      </a>
                    </li>
                  );
                })}
              </ul>
              <More of={changes.more} text="More" />
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}
