import { expect, test } from "bun:test";
import { ndjson } from "../../support/ndjson.ts";
import { needs } from "../../support/programs.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { drawn } from "./drawn.ts";
import { api, signedIn, visit } from "./world.ts";

needs("chromium");

/** What runs, loads, leads elsewhere or turns text around wherever it is read as more than a text. */
const RUN = "globalThis.attacked=1";
const HOSTILE = [
  `"'><img src=x onerror="${RUN}"><svg/onload=${RUN}><script>${RUN}</script>`,
  `[a](javascript:${RUN}) ![b](data:text/html,<script>${RUN}</script>) javascript:${RUN}`,
  `<a href="javascript:${RUN}">c</a> <iframe src="https://elsewhere.example/"></iframe>`,
  "{{7*7}} \u202egpj.exe\u2066 %2F..%2F \u0007\u001b[2J",
].join(" ");
const LONG = "x".repeat(10_000);
const PATHS = [
  `${HOSTILE}.md`,
  `javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  ...["...", ". .", "../../api-keys", "/etc/passwd", "//elsewhere.example/a.md", "a%2F..%2Fb.md"],
  ...[
    "a?b=c#d.md",
    "__proto__/constructor/a.md",
    "a\\b:c*.md",
    `${"deep/".repeat(60)}a.md`,
    " a",
    "\n.md",
  ],
  `${"y".repeat(1_000)}.md`,
];

const mallory = await api.user({ email: "mallory<script>@example.com" });
await api.sql`UPDATE users SET name = ${HOSTILE} WHERE id = ${mallory.userId}`;
const SLUG = "hostile";
await api.post(
  "/projects",
  { name: HOSTILE.slice(0, 250), slug: SLUG, embedder: "hashing" },
  mallory,
);
const frontmatter = `title: ${JSON.stringify(`${HOSTILE} ${LONG}`)}\n${JSON.stringify(HOSTILE)}: ${JSON.stringify([HOSTILE])}\n"__proto__": 1`;
const content = `---\n${frontmatter}\n---\n# ${HOSTILE}\n\nA zebra ${HOSTILE} here.\n\n## ${LONG}\n\n${HOSTILE}`;
const scopes = {
  environments: ["production", HOSTILE.slice(0, 200)],
  releases: [HOSTILE.slice(0, 200)],
};
const imported = await api.send("POST", `/projects/${SLUG}/import`, {
  as: mallory,
  headers: { "content-type": "application/x-ndjson" },
  body: ndjson([
    ...scopes.environments.map((name) => ({ record: "environment", name })),
    ...PATHS.map((path) => ({ record: "file", path, content, ...scopes })),
  ]),
});
const { key } = await api.key(mallory);
await api.post("/api-keys", { name: HOSTILE.slice(0, 250) }, mallory);
const [project] = await api.sql<
  { id: string; slug: string }[]
>`SELECT id, slug FROM projects WHERE slug = ${SLUG}`;
const webhook = await addWebhook(api.sql, project as never, { id: HOSTILE.slice(0, 100) });
const delivered = await api.send("POST", webhook.path, {
  json: { [HOSTILE]: HOSTILE, long: LONG, __proto__: { a: 1 } },
  headers: { ...webhook.headers, "idempotency-key": "1" },
});

const place = (more: string) => `#/search?project=${SLUG}&${more}`;
const word = encodeURIComponent(HOSTILE);
/** Every view, with what is hostile in its address, too. */
const VIEWS: readonly string[] = [
  ...["", "files", "releases", "members", "questions", "audit", "deliveries", "settings"].map(
    (part) => `#/projects/${SLUG}/${part}`,
  ),
  ...["#/projects", "#/operate", "#/keys", `#/${word}`, `#/projects/${word}`],
  ...["#/projects/..", "#/projects/%2E%2E/files", "#/projects/..%2Fapi-keys"],
  ...[
    place("q=zebra"),
    place(`q=${word}`),
    place(`q=zebra&in=${word}`),
    place(`q=zebra&filter=${word}`),
  ],
  ...[place(`like=${word}`), place(`q=zebra&mode=${word}&part=${word}&chunk=${word}`)],
  ...PATHS.map((path) => place(`q=zebra&file=${encodeURIComponent(path)}&chunk=0`)),
  ...["chunks", "facts"].flatMap((part) =>
    [PATHS[0] ?? "", ".."].map((path) =>
      place(`q=zebra&file=${encodeURIComponent(path)}&chunk=0&part=${part}`),
    ),
  ),
];

test("all that a member, a file, a delivery or an address can say is text in every view: nothing runs, loads, leads elsewhere or breaks the page", async () => {
  expect([imported.status, imported.body]).toMatchObject([200, { refused: 0 }]);
  expect(delivered.status).toBe(200);
  await api.untilIndexed(mallory, SLUG);
  const watched = await signedIn("#/none", undefined, key);
  const { page, faults } = watched;
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    // Chromium notes every answer that is not a success.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) faults.push(message.text());
  });
  page.context().on("page", () => faults.push("a window was opened"));
  const look = async (where: string) => {
    await drawn(page);
    const found = (await page.evaluate(LOOK)) as string[];
    expect([...found, ...faults], where).toEqual([]);
  };
  for (const view of VIEWS) {
    await visit(watched, view);
    await look(view);
  }
  await visit(watched, `#/projects/${SLUG}/deliveries`);
  await page.getByRole("button", { name: "Payload" }).first().click();
  await page.getByText('"long"').waitFor();
  await look("an opened delivery");
  await visit(watched, `#/projects/${SLUG}/files`);
  await page.getByRole("button", { name: "Remove javascript:" }).first().click();
  await page.getByRole("dialog").waitFor();
  await look("the removal of a file");
});

test("the console can be put into no frame, and runs no script but its own", async () => {
  const { headers } = await fetch(`${api.url}/console`);
  const policy = headers.get("content-security-policy") ?? "";
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "trusted-types 'none'",
  ]) {
    expect(policy).toContain(part);
  }
  expect(policy).not.toContain("unsafe");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
});

/** What is wrong with the page as it is. */
const LOOK = `(() => {
  const wrong = [];
  if (globalThis.attacked !== undefined) wrong.push("a script ran");
  for (const element of document.querySelectorAll("main *")) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) wrong.push("an event in " + name);
      if (!["href", "src", "action", "formaction", "xlink:href"].includes(name)) continue;
      const url = new URL(value, location.href);
      if (url.origin !== location.origin) wrong.push("a way to " + value);
    }
    if (["SCRIPT", "IFRAME", "OBJECT", "EMBED", "BASE"].includes(element.tagName)) wrong.push("a " + element.tagName);
  }
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) wrong.push("the page is " + scrollWidth + " wide");
  if (document.querySelector("main").innerText.trim() === "") wrong.push("nothing is shown");
  return wrong;
})()`;
