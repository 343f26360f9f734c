import { type Caller, sharedApi } from "../../support/api/api.ts";
import { startShared } from "../../support/cleanup.ts";
import { ndjson } from "../../support/ndjson.ts";
import { openPage, startBrowser, type WatchedPage } from "../../support/processes/browser.ts";

export const DESKTOP = { width: 1_280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/** One service and one browser for all tests of the console. */
export const [api, browser] = await Promise.all([sharedApi(), startShared(startBrowser)]);

export const owner = await api.user({ email: "ada@example.com" });
export const { key } = await api.key(owner);

/** Content that would run and load if it were read as markup. */
export const MARKUP = `<img src="x" onerror="globalThis.attacked = true"><script>attacked = 1</script>`;

/** A record of a file, whose text the service cuts into chunks. */
const file = (path: string, content: string) => ({
  record: "file",
  path,
  environments: ["production"],
  content,
});

const steps = Array.from({ length: 24 }, (_, index) =>
  file(`guides/step-${index}.md`, `# Step ${index}\n\nTurn the lantern ${index} times.`),
);
const longText = Array.from({ length: 80 }, (_, index) => `Line ${index} of a description.`);

const FILES = [
  file(
    "harbour/cranes.md",
    `---
title: Cranes of the harbour
tags: [steel, port]
---

# Cranes of the harbour

${longText.join("\n\n")}

## Inspection of the hoist

The hoist of a crane is inspected every spring, and its rope is replaced when a strand breaks.
`,
  ),
  file(
    "harbour/ropes.md",
    `---
source: https://example.com/ropes
---

# Ropes

A rope with a **broken** strand lifts nothing on the [cranes](../harbour/cranes.md), says
its [maker](https://example.com/maker).

- [within](#ropes) and [run](javascript:attacked=1)
- ![A knot](https://example.com/knot.png)

| strands | broken |
|---|---|
| 8 | 3 |
`,
  ),
  file("attacks/markup.md", `# ${MARKUP}\n\nA zebra writes ${MARKUP} here.`),
  ...steps,
];

/** A new project of a user with these files, all of which are found by words and by meaning. */
async function filledProject(as: Caller, slug: string, files: readonly object[]): Promise<void> {
  await api.post("/projects", { name: `The ${slug}`, slug, embedder: "hashing" }, as);
  await api.send("POST", `/projects/${slug}/import`, {
    as,
    body: ndjson([...files]),
    headers: { "content-type": "application/x-ndjson" },
  });
  await api.post(`/projects/${slug}/releases`, { name: "v1", environment: "production" }, as);
  await api.untilIndexed(as, slug);
}

/** The owner of the vault. */
export const stranger = await api.user();
await Promise.all([
  filledProject(owner, "shipyard", FILES),
  filledProject(stranger, "vault", [file("secret.md", "# Secret\n\nThe crane is made of gold.")]),
]);

/**
 * Goes to an address of the console by way of another view, so that nothing of before is left. The page is
 * not loaded again, which costs more than the tests of a view.
 */
export async function visit({ page }: WatchedPage, address: string): Promise<void> {
  await page.evaluate(`location.hash = "#/none"`);
  await page.getByRole("heading", { name: "There is no such view." }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
}

/** A tab that is signed in, at an address of the console. */
export async function signedIn(
  address: string,
  options: Parameters<typeof openPage>[2] = DESKTOP,
  credential = key,
): Promise<WatchedPage> {
  const watched = await openPage(browser, api.url, options);
  const keep = `sessionStorage.setItem("tessera.credential", "${credential}")`;
  await watched.page.addInitScript(`if (location.protocol !== "about:") ${keep}`);
  await watched.page.goto(`${api.url}/console${address}`);
  return watched;
}
