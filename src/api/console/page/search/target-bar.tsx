import { useState } from "preact/hooks";
import type { Project } from "../base/projects.ts";
import { changeParams, hrefOf, navigate } from "../base/router.ts";
import { Button } from "../parts/button.tsx";
import { Segmented, Select } from "../parts/form.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Mode, OTHER_QUESTION, type Question, targetText } from "./question.ts";
import { dimensionOf } from "./vector.ts";
import { VectorDialog } from "./vector-dialog.tsx";

const MODE_OPTIONS = [
  { value: "hybrid", label: "Both" },
  { value: "semantic", label: "Meaning" },
  { value: "keyword", label: "Words" },
] as const;

function targetOptions(project: Project | undefined) {
  const of = (kind: "environment" | "release", group: string, names: readonly { name: string }[]) =>
    names.map(({ name }) => ({ value: targetText({ kind, name }), label: name, group }));
  return [
    ...of("environment", "Environments", project?.environments ?? []),
    ...of("release", "Releases", project?.releases ?? []),
  ];
}

/** The environment that is searched without a target. */
function defaultTarget(project: Project | undefined): string {
  const names = (project?.environments ?? []).map(({ name }) => name);
  const name = names.includes("production") ? "production" : names[0];
  return name === undefined ? "" : targetText({ kind: "environment", name });
}

interface TargetBarProps {
  readonly question: Question;
  readonly projects: readonly Project[];
  readonly project: Project | undefined;
}

/** Where is searched and how: every choice is in the address. */
export function TargetBar({ question, projects, project }: TargetBarProps) {
  const [pasting, setPasting] = useState(false);
  const { target } = question;
  const value = target === undefined ? defaultTarget(project) : targetText(target);
  const targets = targetOptions(project);
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
          options={MODE_OPTIONS}
          onChange={(mode) => changeParams({ mode: mode === "hybrid" ? "" : mode })}
        />
      )}
      <Button kind="quiet" onClick={() => setPasting(true)}>
        Search by vector
      </Button>
      {pasting && <VectorDialog onClose={() => setPasting(false)} />}
    </div>
  );
}

/** What is searched for instead of words. */
function VectorChip({ question }: { question: Question }) {
  const text =
    question.like === "" ? `Vector of ${dimensionOf(question.vector)} numbers` : "Similar chunks";
  return (
    <div class="field">
      <span class="field-label">Find by</span>
      <span class="chip">
        {text}
        <button
          type="button"
          aria-label={`End: ${text}`}
          onClick={() => changeParams(OTHER_QUESTION)}
        >
          <Icon name="close" />
        </button>
      </span>
    </div>
  );
}
