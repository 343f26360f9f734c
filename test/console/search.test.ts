import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Route } from "playwright-core";
import type { Json } from "../../support/api/openapi.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { api, key, MARKUP, owner, PHONE, signedIn, visit } from "./world.ts";

needs("chromium");

const watched = await signedIn("#/search?project=shipyard");
const { page } = watched;
const box = page.getByRole("searchbox", { name: "Query" });
const results = page.getByRole("list", { name: "Results" }).getByRole("listitem");
const text = page.getByRole("region", { name: "Text of the document" });

const status = (pattern: RegExp) => page.getByRole("status").filter({ hasText: pattern }).waitFor();

async function found(address: string): Promise<void> {
  await visit(watched, address);
  await results.first().waitFor();
}

describe("searching in the console", () => {
  test("results come while one types, with title, heading, path, marked words and both scores", async () => {
    await box.pressSequentially("hoist");
    await results.filter({ hasText: "Inspection of the hoist" }).first().waitFor();
    const first = (await results.first().textContent()) ?? "";
    for (const part of [
      "Cranes of the harbour",
      "harbour/cranes.md",
      "score",
      "similarity",
      "words",
    ]) {
      expect(first).toContain(part);
    }
    expect((await page.locator("mark").first().textContent())?.toLowerCase()).toBe("hoist");
    await status(/matches by similarity and words in/);
    expect(first).not.toContain("weak");
    await box.fill("xyzzyqq");
    await results.filter({ hasText: "weak" }).first().waitFor();
  });

  test("a question that the service is too busy for is asked again", async () => {
    let asked = 0;
    await page.route("**/retrieve", async (route) => {
      asked++;
      if (asked > 2) return await route.continue();
      await route.fulfill({ status: 503, headers: { "retry-after": "0" }, body: "" });
    });
    await found("#/search?project=shipyard&q=strand&mode=keyword");
    expect(asked).toBe(3);
    await page.unroute("**/retrieve");
  });

  test("reload and back keep project, place, way, query and opened result", async () => {
    await found("#/search?project=shipyard");
    await page.getByLabel("In", { exact: true }).selectOption("release:v1");
    await page.getByLabel("Find by").selectOption("keyword");
    await box.fill("strand");
    await status(/by words/);
    await results.first().getByRole("link").click();
    await text.waitFor();
    await page.reload();
    await text.waitFor();
    expect(await box.inputValue()).toBe("strand");
    expect(await page.getByLabel("In", { exact: true }).inputValue()).toBe("release:v1");
    expect(await page.getByLabel("Find by").inputValue()).toBe("keyword");
    await page.goBack();
    await text.waitFor({ state: "detached" });
    expect(await box.inputValue()).toBe("strand");
    expect(await results.count()).toBe(2);
  });

  test("the answer to a superseded query never replaces that to a later one", async () => {
    await found("#/search?project=shipyard&mode=keyword");
    const held: Route[] = [];
    await page.route("**/retrieve", async (route) => {
      if (route.request().postData()?.includes('"lantern"')) held.push(route);
      else await route.continue();
    });
    const cancelled = page.waitForEvent("requestfailed");
    await box.fill("lantern");
    await until("a request is held", () => held.length > 0);
    await box.fill("zebra");
    await results.filter({ hasText: "attacks/markup.md" }).first().waitFor();
    expect((await cancelled).postData()).toContain('"lantern"');
    await Promise.all(held.map((route) => route.continue().catch(() => {})));
    await page.unroute("**/retrieve");
    await status(/^1 match by words/);
    expect(await results.count()).toBe(1);
    expect(page.url()).toContain("q=zebra");
  });

  test("the keyboard does all: slash to the box, arrows through the results, Enter opens", async () => {
    await found("#/search?project=shipyard&q=strand");
    await page.getByRole("button", { name: "Show as code" }).focus();
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Query");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const second = await results.nth(1).locator(".result-path").textContent();
    await page.keyboard.press("Enter");
    await page
      .getByRole("region", { name: "Document" })
      .getByText(second as string)
      .waitFor();
    await box.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Query");
  });

  test("a result whose passage has none of the words says by which field it was found", async () => {
    await found("#/search?project=shipyard&q=steel&mode=keyword");
    const scores = results.filter({ hasText: "harbour/cranes.md" }).locator(".scores");
    await scores.getByText(/in frontmatter\.tags$/).waitFor();
    await found("#/search?project=shipyard&q=strand&mode=keyword");
    expect(await results.first().locator(".scores").textContent()).not.toContain(" in ");
  });

  test("further results are added below", async () => {
    await found("#/search?project=shipyard&q=lantern&mode=keyword");
    expect(await results.count()).toBe(20);
    await page.getByRole("button", { name: "More results" }).click();
    await results.nth(23).waitFor();
  });

  test("without a query the files of the place are listed", async () => {
    await found("#/search?project=shipyard");
    await status(/^27 files$/);
  });

  test("a filter is built from the fields and values that exist, with how many files have them", async () => {
    await found("#/search?project=shipyard&q=strand&mode=keyword");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByLabel("Field").selectOption("frontmatter.tags");
    const values = page.getByRole("list", { name: "Values of frontmatter.tags" });
    expect(await values.getByRole("button").allTextContents()).toEqual(["port 1", "steel 1"]);
    const cut = await page
      .getByRole("dialog")
      .evaluate(
        (dialog: Json) =>
          [...dialog.querySelectorAll("select, .value")].filter(
            ({ scrollWidth, clientWidth }: Json) => scrollWidth > clientWidth,
          ).length,
      );
    expect(cut).toBe(0);
    await values.getByRole("button", { name: "steel" }).click();
    await status(/^1 match by words/);
    await page.reload();
    await status(/^1 match by words/);
    expect(await results.locator(".result-path").allTextContents()).toEqual(["harbour/cranes.md"]);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByLabel("Field").selectOption("path");
    await page.getByLabel("Comparison").selectOption("$prefix");
    await page.getByLabel("Value", { exact: true }).fill("guides/");
    await page.getByRole("button", { name: "Add condition" }).click();
    await page.getByText("Nothing matches.").waitFor();
    for (const condition of ["path begins with guides/", "frontmatter.tags is steel"]) {
      await page.getByRole("button", { name: `End: ${condition}` }).click();
    }
    await status(/^2 matches by words/);
  });

  test("a filter of an address is shown as what can be ended, whatever it is", async () => {
    const filters = [
      [`{"frontmatter.tags":"steel"}`, "frontmatter.tags is steel"],
      [`{"$or":[{"path":"a.md"}]}`, `filter {"$or":[{"path":"a.md"}]}`],
      [`{"path":`, `unreadable filter {"path":`],
      ["[1]", "unreadable filter [1]"],
    ] as const;
    for (const [filter, chip] of filters) {
      await visit(watched, `#/search?project=shipyard&filter=${encodeURIComponent(filter)}`);
      await page.getByRole("button", { name: `End: ${chip}` }).click();
      await status(/^27 files$/);
      expect(page.url()).not.toContain("filter");
    }
  });

  test("where nothing is found, dropping the filter and another way to search are one click each", async () => {
    const filter = encodeURIComponent(`{"path":"none.md"}`);
    await visit(watched, `#/search?project=shipyard&q=sovereignty&mode=keyword&filter=${filter}`);
    await page.getByText("Nothing matches.").waitFor();
    await page.getByRole("button", { name: "Search without the filter" }).click();
    await status(/^0 matches by words/);
    expect(page.url()).not.toContain("filter");
    await page.getByRole("button", { name: "Search by similarity and words" }).click();
    await results.first().waitFor();
    expect(page.url()).toContain("q=sovereignty");
  });

  test("the controls share a row, and the passages use the width", async () => {
    await found("#/search?project=shipyard&q=hoist");
    const controls = [
      page.getByLabel("Project", { exact: true }),
      page.getByLabel("In", { exact: true }),
      page.getByLabel("Find by", { exact: true }),
      page.getByRole("button", { name: "Filter", exact: true }),
      page.getByRole("button", { name: "By vector", exact: true }),
    ];
    const boxes = await Promise.all(controls.map((control) => control.boundingBox()));
    const middles = boxes.map((of) => (of === null ? Number.NaN : of.y + of.height / 2));
    expect(Math.max(...middles) - Math.min(...middles)).toBeLessThan(4);
    const [list, passage] = await Promise.all([
      results.first().boundingBox(),
      results.first().locator(".result-text").boundingBox(),
    ]);
    expect(passage?.width ?? 0).toBeGreaterThan((list?.width ?? 0) * 0.9);
  });

  test("a pasted vector is searched and stays after a reload, and one of another dimension is refused", async () => {
    const [chunk] = await api.sql<{ vector: string }[]>`
      SELECT encode(c.embedding, 'base64') AS vector FROM chunks c JOIN projects p ON p.id = c.project_id
      WHERE p.slug = 'shipyard' AND c.content LIKE '%zebra%'`;
    const paste = async (vector: string) => {
      await page.getByRole("button", { name: "By vector", exact: true }).click();
      await page.getByRole("textbox", { name: "Vector" }).fill(vector);
      await page.getByRole("button", { name: "Search by vector" }).click();
    };
    await found("#/search?project=shipyard");
    await paste(chunk!.vector);
    await status(/by similarity/);
    await page.reload();
    await status(/by similarity/);
    expect(await results.first().textContent()).toContain("attacks/markup.md");
    await paste("[1, 2, 3]");
    expect(await page.getByRole("alert").textContent()).toContain("dimension");
  });
});

describe("an opened result in the console", () => {
  test("is shown at its passage, with its chunks and its frontmatter", async () => {
    await found("#/search?project=shipyard&q=hoist%20inspected");
    await results.first().getByRole("link").click();
    await text.locator(".passage mark").first().waitFor();
    const inView = `(() => {
      const passage = document.querySelector(".passage mark").getBoundingClientRect();
      const box = document.querySelector(".document-text").getBoundingClientRect();
      return passage.top >= box.top && passage.bottom <= box.bottom;
    })()`;
    // It is brought into view just after it was drawn.
    await until("the passage is in view", () => page.evaluate(inView));
    await page.getByRole("link", { name: "Metadata" }).click();
    await page.getByText('["steel","port"]').waitFor();
    await page.getByRole("link", { name: "Chunks", exact: true }).click();
    await page.getByRole("link", { name: "Chunks similar to chunk 0" }).click();
    await results
      .first()
      .filter({ hasText: /score 1similarity 1/ })
      .waitFor();
  });

  test("is text, whatever markup it contains, as title, in passages and in the document", async () => {
    await found("#/search?project=shipyard&q=zebra");
    await results.first().getByRole("link").click();
    await text.getByText(`A zebra writes ${MARKUP} here.`).waitFor();
    expect(await page.evaluate("typeof attacked")).toBe("undefined");
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(watched.faults).toEqual([]);
  });

  test("is rendered, with links into the project, no image and its raw text beside it, and leads to its source", async () => {
    await visit(watched, "#/search?project=shipyard&file=harbour/ropes.md");
    await text.getByRole("heading", { name: "Ropes" }).waitFor();
    expect(await text.locator("strong").textContent()).toBe("broken");
    expect(await text.getByRole("cell").allTextContents()).toEqual(["8", "3"]);
    expect(await text.locator("img").count()).toBe(0);
    expect(await text.textContent()).toContain("A knot");
    const foreign = text.getByRole("link", { name: "maker" });
    expect(await foreign.getAttribute("rel")).toBe("noopener noreferrer");
    for (const name of ["within", "run"]) {
      expect(await text.getByRole("link", { name }).count()).toBe(0);
    }
    const source = page.getByRole("link", { name: "Source", exact: true });
    expect(await source.getAttribute("href")).toBe("https://example.com/ropes");
    await page.getByRole("link", { name: "Raw", exact: true }).click();
    await text.getByText("A rope with a **broken** strand").waitFor();
    await page.getByRole("link", { name: "Text", exact: true }).click();
    await text.getByRole("link", { name: "cranes" }).click();
    await text.getByText("Inspection of the hoist").waitFor();
    expect(watched.faults).toEqual([]);
  });

  test("comes with the search as a command and as code of the client, which find the same and have no key", async () => {
    await found(`#/search?project=shipyard&q=${encodeURIComponent("spring's rope")}`);
    const path = await results.first().locator(".result-path").textContent();
    await page.getByRole("button", { name: "Show as code" }).click();
    const codeOf = (name: string) => page.getByRole("region", { name, exact: true }).textContent();
    const curl = (await codeOf("curl")) as string;
    const client = (await codeOf("TypeScript client")) as string;
    expect(curl + client).not.toContain(key);
    const run = async (...command: string[]) => {
      const env = { ...process.env, TESSERA_API_KEY: key };
      const program = Bun.spawn(command, { env, stdout: "pipe", stderr: "inherit" });
      return await new Response(program.stdout).text();
    };
    const module = join(import.meta.dir, "../../client/src/index.ts");
    const code = `${client.replace("tessera-client", module)}\nconsole.log(JSON.stringify(found));`;
    for (const answer of await Promise.all([
      run("sh", "-c", curl),
      run(process.execPath, "-e", code),
    ])) {
      expect(JSON.parse(answer).data[0].chunk.file_path).toBe(path);
    }
  });
});

describe("what a user may not see", () => {
  test("a foreign project's address answers as that of none, and shows nothing of its content", async () => {
    for (const project of ["vault", "no-such-project"]) {
      await visit(watched, `#/search?project=${project}&q=gold`);
      const alert = await page.getByRole("alert").first().textContent();
      const own = await api.post("/projects/no-such-project/retrieve", { query: "gold" }, owner);
      expect(alert).toContain(own.body.detail);
      await page.getByText(`There is no project ${project} here.`).waitFor();
      await visit(watched, `#/projects/${project}`);
      expect(await page.getByRole("alert").first().textContent()).toContain(own.body.detail);
      await page.getByRole("heading", { name: "No such project" }).waitFor();
      expect(await page.getByRole("navigation", { name: "Parts of the project" }).count()).toBe(0);
      expect(await page.getByText("made of gold").count()).toBe(0);
    }
  });
});

describe("searching on a phone", () => {
  test("the query is the first field, and an opened result takes the place of the list without overflow", async () => {
    const phone = await signedIn("#/search?project=shipyard&q=hoist", PHONE);
    const list = phone.page.getByRole("list", { name: "Results" });
    await list.getByRole("link").first().click();
    await phone.page.getByRole("region", { name: "Text of the document" }).waitFor();
    expect(await list.isVisible()).toBe(false);
    const first = `document.querySelector("main :is(input, select, textarea)").ariaLabel`;
    expect(await phone.page.evaluate(first)).toBe("Query");
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
    await phone.page.getByRole("button", { name: "Close the document" }).click();
    await list.waitFor();
    expect(phone.faults).toEqual([]);
  });
});
