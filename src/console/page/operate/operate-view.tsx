import { useProjects } from "../base/projects.ts";
import { changeParams, hrefOf, type Route } from "../base/router.ts";
import { Select } from "../parts/form.tsx";
import { Page, Tabs } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { AuditLog } from "./audit-log.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Live } from "./live.tsx";
import { Questions } from "./questions.tsx";

const PROJECT_PARTS = {
  questions: { label: "Questions", Part: Questions },
  audit: { label: "Audit log", Part: AuditLog },
  deliveries: { label: "Deliveries", Part: Deliveries },
} as const;
type ProjectPart = keyof typeof PROJECT_PARTS;

const isProjectPart = (name: string): name is ProjectPart => Object.hasOwn(PROJECT_PARTS, name);

/** Metrics of the service, and questions, deliveries and changes of a project. */
export function OperateView({ route }: { route: Route }) {
  const name = route.path[1] ?? "";
  const part = isProjectPart(name) ? name : undefined;
  const { project } = route.params;
  const hrefTo = (to: string) => hrefOf(to === "" ? ["operate"] : ["operate", to], { project });
  const tabs = [
    { name: "", label: "Live", href: hrefTo("") },
    ...Object.entries(PROJECT_PARTS).map(([key, { label }]) => ({
      ...{ name: key, label, href: hrefTo(key) },
    })),
  ];
  return (
    <Page title="Operate" lead="How the service does, and what happens to a project.">
      <Tabs label="Parts" tabs={tabs} current={part ?? ""} />
      {part === undefined ? <Live /> : <OfProject part={part} asked={project} />}
    </Page>
  );
}

/** A part for one project, with a list to choose the project. */
function OfProject({ part, asked }: { part: ProjectPart; asked: string | undefined }) {
  const projects = useProjects();
  const { Part } = PROJECT_PARTS[part];
  return (
    <Loaded of={projects}>
      {(list) => {
        const slug = asked ?? list[0]?.slug;
        if (slug === undefined) return <Empty title="This credential shows no projects." />;
        const slugs = [...new Set([slug, ...list.map((project) => project.slug)])];
        return (
          <>
            <div class="operate-bar">
              <Select
                label="Project"
                value={slug}
                options={slugs.sort().map((value) => ({ value, label: value }))}
                onChange={(value) => changeParams({ project: value })}
              />
            </div>
            <Part key={slug} project={slug} />
          </>
        );
      }}
    </Loaded>
  );
}
