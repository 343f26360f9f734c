import { useEffect } from "preact/hooks";
import { useProjects } from "../base/resource.ts";
import { changeParams, type Route } from "../base/router.ts";
import { Page } from "../parts/page.tsx";
import { Empty, Failure, isNoProject, Loaded, NoProject } from "../parts/states.tsx";
import { useResults } from "./ask.ts";
import { DocumentPane } from "./document.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { questionOf } from "./question.ts";
import { ResultList } from "./results.tsx";
import { SearchBox } from "./search-box.tsx";
import { TargetBar } from "./target-bar.tsx";

/** Search by text while the user types, by a chunk or by a vector, with the opened result next to the list. */
export function SearchView({ route: { params } }: { route: Route }) {
  const question = questionOf(params);
  const { value: projects = [], error, loading, reload } = useProjects();
  const results = useResults(question);
  const { file = "" } = params;
  const first = projects[0]?.slug;
  useEffect(() => {
    if (question.project === "" && first !== undefined) {
      changeParams({ project: first }, { replace: true });
    }
  }, [question.project, first]);
  const project = projects.find(({ slug }) => slug === question.project);
  const hasNone = !loading && error === undefined && first === undefined;
  return (
    <Page title="Search" titleHidden>
      <SearchBox question={question} />
      <TargetBar question={question} projects={projects} project={project}>
        <FilterBar question={question} />
      </TargetBar>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {hasNone && question.project === "" && (
        <Empty title="This credential shows no projects.">
          <p>A key of a member of a project does.</p>
        </Empty>
      )}
      <div class={file === "" ? "found" : "found open"}>
        <div class="found-list">
          {isNoProject(results.error) && (
            <NoProject slug={question.project} error={results.error} />
          )}
          {question.project !== "" && !isNoProject(results.error) && (
            <Loaded of={results}>
              {(summary) => (
                <ResultList
                  question={question}
                  project={project}
                  results={results}
                  summary={summary}
                  params={params}
                />
              )}
            </Loaded>
          )}
        </div>
        {file !== "" && (
          <DocumentPane
            key={file}
            question={question}
            file={file}
            found={results.items}
            params={params}
          />
        )}
      </div>
    </Page>
  );
}
