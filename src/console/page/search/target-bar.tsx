import type { ComponentChildren } from "preact";
import { defaultPlace, placeOptions } from "../base/places.ts";
import { changeParams, hrefOf, navigate } from "../base/router.ts";
import type { Project } from "../base/service.ts";
import { Chip } from "../parts/button.tsx";
import { Select } from "../parts/form.tsx";
import { closenessOf } from "./modes.ts";
import { OTHER_QUESTION, type Question } from "./question.ts";
import { dimensionOf } from "./vector.ts";

interface TargetBarProps {
  readonly question: Question;
  readonly projects: readonly Project[];
  readonly project: Project | undefined;
  /** Further controls of the row. */
  readonly children: ComponentChildren;
}

/** The controls of project, place and mode, in one row if they fit. Every choice is in the address. */
export function TargetBar({ question, projects, project, children }: TargetBarProps) {
  const { mode, query, like, vector } = question;
  const closeness = closenessOf(project) === "meaning" ? "Meaning" : "Similarity";
  return (
    <div class="target-bar">
      <Select
        label="Project"
        value={question.project}
        options={projects.map(({ slug, name }) => ({ value: slug, label: name }))}
        onChange={(slug) => navigate(hrefOf(["search"], { project: slug, mode, q: query }))}
      />
      <Select
        label="In"
        value={question.place || defaultPlace(project)}
        options={placeOptions(project)}
        onChange={(chosen) => changeParams({ in: chosen, file: "", chunk: "" })}
      />
      {like !== "" || vector !== "" ? (
        <div class="field">
          <span class="field-label">Find by</span>
          <Chip
            text={like === "" ? `Vector of ${dimensionOf(vector)} numbers` : "Similar chunks"}
            onEnd={() => changeParams(OTHER_QUESTION)}
          />
        </div>
      ) : (
        <Select
          label="Find by"
          value={mode}
          options={[
            { value: "hybrid", label: "Both" },
            { value: "semantic", label: closeness },
            { value: "keyword", label: "Words" },
          ]}
          onChange={(chosen) => changeParams({ mode: chosen === "hybrid" ? "" : chosen })}
        />
      )}
      {children}
    </div>
  );
}
