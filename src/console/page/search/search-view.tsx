import { useEffect } from "preact/hooks";
import { useProjects } from "../base/projects.ts";
import { changeParams, type Route } from "../base/router.ts";
import { isNoProject, NoProject } from "../parts/no-project.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { useResults } from "./ask.ts";
import { DocumentPane } from "./document.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { questionOf } from "./question.ts";
import { ResultList } from "./results.tsx";
import { SearchBox } from "./search-box.tsx";
import { TargetBar } from "./target-bar.tsx";

/** Search by text while the user types, by a chunk or by a vector, with the opened result next to the list. */
export function SearchView({ route }: { route: Route }) {
  const question = questionOf(route);
  const projects = useProjects();
  const results = useResults(question);
  const file = route.params["file"] ?? "";
  const first = projects.value?.[0]?.slug;
  useEffect(() => {
    if (question.project === "" && first !== undefined) {
      changeParams({ project: first }, { replace: true });
    }
  }, [question.project, first]);
  const project = projects.value?.find(({ slug }) => slug === question.project);
  return (
    <Page title="Search" titleHidden>
      <SearchBox question={question} />
      <TargetBar question={question} projects={projects.value ?? []} project={project}>
        <FilterBar question={question} />
      </TargetBar>
      {projects.error !== undefined && <Failure error={projects.error} retry={projects.reload} />}
      {projects.value?.length === 0 && question.project === "" && (
        <Empty title="This credential shows no projects.">
          <p>A key of a member of a project does.</p>
        </Empty>
      )}
      <div class={file === "" ? "found" : "found open"}>
        <div class="found-list">
          {isNoProject(results.error) ? (
            <NoProject slug={question.project} error={results.error} />
          ) : (
            results.error !== undefined && <Failure error={results.error} retry={results.reload} />
          )}
          {results.error === undefined && results.results === undefined && results.loading && (
            <Loading label="Searching" />
          )}
          {results.results !== undefined && (
            <ResultList
              question={question}
              project={project}
              results={results.results}
              stale={results.loading}
              opened={{ file, chunk: route.params["chunk"] ?? "" }}
              onMore={results.loadMore}
            />
          )}
        </div>
        {file !== "" && (
          <DocumentPane
            key={file}
            question={question}
            file={file}
            found={results.results?.found ?? []}
            params={route.params}
          />
        )}
      </div>
    </Page>
  );
}
