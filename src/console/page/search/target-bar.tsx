import type { ComponentChildren } from "preact";
import { defaultPlace, placeOptions, placeText } from "../base/places.ts";
import type { Project } from "../base/projects.ts";
import { changeParams, hrefOf, navigate } from "../base/router.ts";
import { Chip } from "../parts/chip.tsx";
import { Segmented, Select } from "../parts/form.tsx";
import { closenessOf } from "./modes.ts";
import { type Mode, OTHER_QUESTION, type Question } from "./question.ts";
import { dimensionOf } from "./vector.ts";

const modeOptions = (project: Project | undefined) =>
  [
    { value: "hybrid", label: "Both" },
    { value: "semantic", label: closenessOf(project) === "meaning" ? "Meaning" : "Similarity" },
    { value: "keyword", label: "Words" },
  ] as const;

interface TargetBarProps {
  readonly question: Question;
  readonly projects: readonly Project[];
  readonly project: Project | undefined;
  /** Further controls of the row. */
  readonly children: ComponentChildren;
}

/** The controls of project, place and mode, in one row if they fit. Every choice is in the address. */
export function TargetBar({ question, projects, project, children }: TargetBarProps) {
  const { target } = question;
  const value = target === undefined ? defaultPlace(project) : placeText(target);
  const targets = placeOptions(project);
  const known = projects.map(({ slug, name }) => ({ value: slug, label: name }));
  const options = project
    ? known
    : [{ value: question.project, label: question.project }, ...known];
  const chooseProject = (slug: string) =>
    navigate(hrefOf(["search"], { project: slug, mode: question.mode, q: question.query }));
  const byVector = question.like !== "" || question.vector !== "";
  return (
    <div class="target-bar">
      <Select label="Project" value={question.project} options={options} onChange={chooseProject} />
      <Select
        label="In"
        value={value}
        options={
          target === undefined || targets.some((each) => each.value === value)
            ? targets
            : [{ value, label: target.name }, ...targets]
        }
        onChange={(chosen) => changeParams({ in: chosen, file: "", chunk: "" })}
      />
      {byVector ? (
        <VectorChip question={question} />
      ) : (
        <Segmented<Mode>
          label="Find by"
          value={question.mode}
          options={modeOptions(project)}
          onChange={(mode) => changeParams({ mode: mode === "hybrid" ? "" : mode })}
        />
      )}
      {children}
    </div>
  );
}

/** The vector or chunk that is searched for instead of words. */
function VectorChip({ question }: { question: Question }) {
  const text =
    question.like === "" ? `Vector of ${dimensionOf(question.vector)} numbers` : "Similar chunks";
  return (
    <div class="field">
      <span class="field-label">Find by</span>
      <Chip text={text} onEnd={() => changeParams(OTHER_QUESTION)} />
    </div>
  );
}
