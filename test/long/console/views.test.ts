import { beforeAll, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import type { components } from "../../../client/src/types.ts";
import type { Demo } from "../../../src/demo/content.ts";
import { createDemo } from "../../../src/demo/create-demo.ts";
import { createLog } from "../../../src/ops/observability/log.ts";
import type { Project } from "../../../support/accounts.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { openPage } from "../../../support/processes/browser.ts";
import { needs } from "../../../support/programs.ts";
import { until } from "../../../support/until.ts";
import { addWebhook } from "../../../support/webhooks.ts";
import { accessFaults } from "../../console/access.ts";
import { drawn } from "../../console/drawn.ts";
import { api, browser, DESKTOP } from "../../console/world.ts";
import { metricsText } from "./metrics-text.ts";
import { changedPictures, strayPictures } from "./pictures.ts";

needs("chromium");

/** When all pictures are taken, and when all that they show happened. */
const NOW = new Date("2026-03-02T10:30:00Z");
const THEN = "2026-03-02T09:15:00.000Z";

/** What the plots show. */
const POLLS = 60;
const POLL_MS = 15_000;

/** What differs between two runs, and what is shown instead. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z/g, THEN],
  [/(?<="server":")[^"]+/g, "0c4f7a52"],
  [
    /(?<="(?:key|member|user|conversation_id)":")[0-9a-f-]{36}/g,
    "59fb64da-b7bd-5d7c-8e02-cd1d75b1157a",
  ],
  [/(?<="key_prefix":")[^"]+/g, "Zk3vT8mWq1Lp"],
];

const MEMBER_ID = [/(?<="id":")[0-9a-f-]{36}/g, "59fb64da-b7bd-5d7c-8e02-cd1d75b1157a"] as const;

async function answer(route: Route): Promise<void> {
  const response = await route.fetch();
  const url = route.request().url();
  const text = await response.text();
  // The audit log names members by their ids.
  const changing = url.includes("/members?") ? [...CHANGING, MEMBER_ID] : CHANGING;
  const body = changing.reduce((now, [what, by]) => now.replace(what, by), text);
  await route.fulfill({ response, body });
}

async function openDemo(): Promise<{ page: Page; demo: Demo }> {
  const demo = await createDemo(temporaryFolder("demo"), api.sql, createLog("fatal"));
  if (demo === undefined) throw new Error("the demo project exists");
  const as = { userId: "", headers: { "x-api-key": demo.key } };
  await api.untilIndexed(as, "demo");
  const { page } = await openPage(browser, api.url, DESKTOP);
  await page.clock.setFixedTime(NOW);
  // Durations, too, differ from run to run.
  await page.addInitScript("performance.now = () => 0");
  await page.route((url) => !url.pathname.startsWith("/console"), answer);
  return { page, demo };
}

const asked = (question: string, asked: number, without_hits = 0) => ({
  question,
  asked,
  without_hits,
});

/** A week in which people looked for what nobody has written. */
const QUESTIONS: components["schemas"]["QuestionReport"] = {
  counted: true,
  asked: 1_284,
  without_hits: 97,
  p50_ms: 2.4,
  p95_ms: 7.9,
  p99_ms: 18.2,
  frequent: [
    asked("how do releases share files", 131),
    asked("filters", 88),
    asked("invite a member", 61, 61),
    asked("environments", 54),
    asked("rotate an api key", 37),
  ],
  unanswered: [
    asked("invite a member", 61, 61),
    asked("price list", 19, 19),
    asked("single sign-on", 9, 9),
  ],
  days: [
    ["2026-02-27", 402, 18],
    ["2026-02-28", 96, 11],
    ["2026-03-01", 121, 9],
    ["2026-03-02", 665, 59],
  ].map(([day, count, empty]) => ({
    day: String(day),
    asked: Number(count),
    without_hits: Number(empty),
    p50_ms: 2.41,
    p95_ms: 7.9,
    p99_ms: 18.2,
  })),
};

/** What a build service sends. */
async function deliver(): Promise<void> {
  const [project] = await api.sql<Project[]>`SELECT id, slug FROM projects WHERE slug = 'demo'`;
  const webhook = await addWebhook(api.sql, project as Project, { id: "pipeline" });
  for (const number of [41, 42]) {
    const json = { build: { number, branch: "main", status: "passed" }, seconds: 93.5 };
    const headers = { ...webhook.headers, "idempotency-key": `build-${number}` };
    await api.send("POST", webhook.path, { json, headers });
  }
}

const { page, demo } = await openDemo();
await deliver();
await page.route("**/questions?*", (route) => route.fulfill({ json: QUESTIONS }));

/** Goes to an address and waits until nothing is loading. */
async function go(address: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${api.url}/console${address}`);
  await drawn(page);
}

async function looksAsKept(view: string): Promise<void> {
  expect(await changedPictures(page, view)).toEqual([]);
}

const answerPoll = (route: Route, poll: number) =>
  route.fulfill({ body: metricsText(poll), contentType: "text/plain" });

const QUESTION = "project=demo&q=how+do+releases+share+files";
/** The views of a user who has signed in. */
const VIEWS: Readonly<Record<string, string>> = {
  search: `#/search?${QUESTION}`,
  projects: "#/projects",
  project: "#/projects/demo",
  files: "#/projects/demo/files",
  releases: "#/projects/demo/releases",
  members: "#/projects/demo/members",
  settings: "#/projects/demo/settings",
  questions: "#/projects/demo/questions",
  audit: "#/projects/demo/audit",
  deliveries: "#/projects/demo/deliveries",
  keys: "#/keys",
};

beforeAll(async () => {
  await go("");
  await page.evaluate(`sessionStorage.setItem("tessera.credential", "${demo.key}")`);
});

for (const [view, address] of Object.entries(VIEWS)) {
  test(`the view ${view} looks as in the documentation`, async () => {
    await go(address);
    await looksAsKept(view);
  });
}

test("an opened result looks as in the documentation", async () => {
  await go(`#/search?${QUESTION}`);
  await page.getByRole("list", { name: "Results" }).getByRole("link").first().click();
  await page.getByRole("region", { name: "Text of the document" }).waitFor();
  await looksAsKept("document");
});

test("the plots of operating look as in the documentation", async () => {
  const polls: Route[] = [];
  await page.route("**/metrics", async (route) => {
    // Further polls are of the same time, and change nothing.
    if (polls.push(route) > POLLS) await answerPoll(route, POLLS - 1);
  });
  await page.goto("about:blank");
  await page.goto(`${api.url}/console#/operate`);
  for (let poll = 0; poll < POLLS; poll++) {
    // The page does not poll again before it has an answer.
    await until("the page polls", () => polls.length > poll);
    await page.clock.setFixedTime(NOW.getTime() - (POLLS - 1 - poll) * POLL_MS);
    await answerPoll(polls[poll] as Route, poll);
    await drawn(page);
    if (poll < POLLS - 1) await page.clock.fastForward(POLL_MS);
  }
  await looksAsKept("operate");
});

test("an opened delivery looks as in the documentation", async () => {
  await go("#/projects/demo/deliveries");
  await page.getByRole("button", { name: "Payload" }).first().click();
  await page.getByText('"branch"').waitFor();
  await looksAsKept("delivery");
});

test("signing in looks as in the documentation", async () => {
  await page.evaluate("sessionStorage.clear()");
  await go("");
  await looksAsKept("sign-in");
});

test("the page of a problem looks as in the documentation, leads to the console, and hinders nobody", async () => {
  await page.goto(`${api.url}/errors/project-not-found`);
  await looksAsKept("problem");
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "Tessera", exact: true }).click();
  await page.getByLabel("API key or JWT").waitFor();
});

test("every picture in the documentation is of a view, and every view has its pictures", () => {
  const others = [
    "operate",
    "sign-in",
    "document",
    "delivery",
    "docs",
    "guides",
    "guide",
    "problem",
  ];
  expect(strayPictures([...Object.keys(VIEWS), ...others])).toEqual([]);
});
