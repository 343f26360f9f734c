import { useState } from "preact/hooks";
import type { Schemas } from "../base/api.ts";
import { duration, number } from "../base/format.ts";
import { useOfProject } from "../base/resource.ts";
import { hrefOf } from "../base/router.ts";
import { Select } from "../parts/form.tsx";
import { Facts, Panel } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";

type Report = Schemas["QuestionReport"];
type Question = Schemas["Question"];

const SPANS = [
  { value: "1", label: "Today" },
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
];

const time = (ms: number | null) => (ms === null ? "" : duration(ms));

interface QuestionsOf {
  readonly project: string;
  readonly title: string;
  readonly empty: string;
  readonly questions: readonly Question[];
}

function List({ project, title, empty, questions }: QuestionsOf) {
  return (
    <Panel title={title}>
      <Table
        label={title}
        rows={questions}
        keyOf={({ question }) => question}
        empty={empty}
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

function Days({ days }: Pick<Report, "days">) {
  return (
    <Panel title="By day">
      <Table
        label="By day"
        rows={days.toReversed()}
        keyOf={({ day }) => day}
        columns={[
          { name: "Day (UTC)", value: ({ day }) => <span class="nowrap">{day}</span> },
          { name: "Asked", end: true, value: ({ asked }) => number(asked) },
          { name: "Without hits", end: true, value: (each) => number(each.without_hits) },
          { name: "Half within", end: true, value: (each) => time(each.p50_ms) },
          { name: "95 % within", end: true, value: (each) => time(each.p95_ms) },
          { name: "99 % within", end: true, value: (each) => time(each.p99_ms) },
        ]}
      />
    </Panel>
  );
}

function Summary({ asked, without_hits, p50_ms, p95_ms, p99_ms }: Report) {
  const share = number((100 * without_hits) / asked, 1);
  return (
    <Facts
      of={[
        ["Asked", number(asked)],
        ["Without hits", `${number(without_hits)} (${share} %)`],
        ["Half answered within", time(p50_ms)],
        ["95 % within", time(p95_ms)],
        ["99 % within", time(p99_ms)],
      ]}
    />
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
export function Questions({ project }: { project: string }) {
  const [days, setDays] = useState("7");
  const report = useOfProject<Report>([project, "questions"], { days });
  const found = report.value?.asked ? report.value : undefined;
  return (
    <>
      <Panel
        title="Questions"
        lead="What was asked in words, by day. Who asked is not kept."
        actions={
          <Select label="Time" labelHidden value={days} options={SPANS} onChange={setDays} />
        }
      >
        <Loaded of={report}>
          {(each) => (each.asked > 0 ? <Summary {...each} /> : <Nothing {...each} />)}
        </Loaded>
      </Panel>
      {found && (
        <>
          <div class="columns">
            <List
              {...{ project, title: "Without hits", questions: found.unanswered }}
              empty="Every question had hits."
            />
            <List
              {...{ project, title: "Most frequent", questions: found.frequent }}
              empty="None yet."
            />
          </div>
          <Days days={found.days} />
        </>
      )}
    </>
  );
}
