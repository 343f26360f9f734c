import { useState } from "preact/hooks";
import { duration, number } from "../base/format.ts";
import { useResource } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { client, type Schemas } from "../base/service.ts";
import { Select } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { ProjectProps } from "./project-props.ts";

type Report = Schemas["QuestionReport"];

const SPANS = [
  { value: "1", label: "Today" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
];

const time = (ms: number | null) => (ms === null ? "" : duration(ms));

interface QuestionsOf {
  readonly project: string;
  readonly title: string;
  readonly questions: readonly Schemas["Question"][];
}

function List({ project, title, questions }: QuestionsOf) {
  return (
    <Panel title={title}>
      <Table
        label={title}
        rows={questions}
        keyOf={({ question }) => question}
        empty="Every question had hits."
        columns={[
          {
            name: "Question",
            value: ({ question }) => (
              <a href={hrefOf(["search"], { project, q: question })}>{question}</a>
            ),
          },
          { name: "Asked", end: true, value: ({ asked }) => number(asked) },
          { name: "Without hits", end: true, value: (each) => number(each.without_hits) },
        ]}
      />
    </Panel>
  );
}

/** How often the project was asked, and how long answers took, by day and in all. */
function Days(report: Report) {
  return (
    <Panel title="By day">
      <Table
        label="By day"
        rows={[{ ...report, day: "All days" }, ...report.days.toReversed()]}
        keyOf={({ day }) => day}
        columns={[
          { name: "Day (UTC)", value: ({ day }) => <span class="nowrap">{day}</span> },
          { name: "Asked", end: true, value: ({ asked }) => number(asked) },
          {
            name: "Without hits",
            end: true,
            value: ({ asked, without_hits: count }) =>
              `${number(count)} (${number((100 * count) / Math.max(asked, 1), 1)} %)`,
          },
          { name: "Half within", end: true, value: (each) => time(each.p50_ms) },
          { name: "95 % within", end: true, value: (each) => time(each.p95_ms) },
          { name: "99 % within", end: true, value: (each) => time(each.p99_ms) },
        ]}
      />
    </Panel>
  );
}

function Nothing({ counted }: Report) {
  if (counted) return <Empty title="Nobody has asked this project anything in this time." />;
  return (
    <Empty title="This service does not count questions.">
      <p>
        Its operator can turn that on: <code>QUESTION_STATISTICS=on</code>
      </p>
    </Empty>
  );
}

/** The questions of a project: those without hits, the most frequent ones, and the durations of answers. */
export function Questions({ project: { slug } }: ProjectProps) {
  const [days, setDays] = useState("7");
  const report = useResource(`${slug} ${days}`, (signal) =>
    client.getQuestions(slug, { days: Number(days) }, { signal }),
  );
  return (
    <>
      <Panel
        title="Questions"
        lead="What was asked in words, by day. Who asked is not kept."
        actions={
          <Select label="Time" labelHidden value={days} options={SPANS} onChange={setDays} />
        }
      >
        {report.value?.asked === 0 && <Nothing {...report.value} />}
      </Panel>
      <Loaded of={report}>
        {(found) =>
          found.asked > 0 && (
            <>
              <div class="columns">
                <List project={slug} title="Without hits" questions={found.unanswered} />
                <List project={slug} title="Most frequent" questions={found.frequent} />
              </div>
              <Days {...found} />
            </>
          )
        }
      </Loaded>
    </>
  );
}
