import { describe, expect, test } from "bun:test";
import { NO_KEY_YET } from "../../src/domain/first-key.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { openPage } from "../../support/processes/browser.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { accessFaults } from "./access.ts";
import { drawn } from "./drawn.ts";
import { api, browser, DESKTOP, key, owner, PHONE, signedIn, visit } from "./world.ts";

needs("chromium");

const watched = await openPage(browser, api.url, DESKTOP);
const { page, faults } = watched;

async function enter(credential: string): Promise<void> {
  await page.getByLabel("API key or JWT").fill(credential);
  await page.getByLabel("API key or JWT").press("Enter");
}

describe("signing in to the console", () => {
  test("the page says how the first key is made where the database has none", async () => {
    const empty = await startApi({ env: { DEMO: "off" } });
    const { page: first } = await openPage(browser, empty.url, DESKTOP);
    await first.goto(`${empty.url}/console`);
    await first.getByText("./tessera keys create --user you@example.com --name first").waitFor();
    expect(await first.getByText(NO_KEY_YET).count()).toBe(1);
    await addApiKey(empty.sql, await addUser(empty.sql));
    await until("the page has no hint", async () => {
      await first.reload();
      await first.getByLabel("API key or JWT").waitFor();
      return (await first.getByText(NO_KEY_YET).count()) === 0;
    });
  });

  test("a wrong key is refused with the detail of the problem, and not kept", async () => {
    await page.goto(`${api.url}/console`);
    await enter(key.slice(0, -1) + (key.endsWith("0") ? "1" : "0"));
    const refused = await api.get("/projects", { userId: "", headers: { "x-api-key": "x" } });
    expect(await page.getByRole("alert").textContent()).toBe(refused.body.detail);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("a key signs in with Enter and stays in the tab, the box has the focus, and no frame is around the page", async () => {
    await enter(key);
    await page.getByRole("searchbox", { name: "Query" }).waitFor();
    await page.reload();
    await page.getByRole("listitem").first().waitFor();
    expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("Query");
    expect(
      await page.evaluate(`getComputedStyle(document.querySelector("main")).outlineStyle`),
    ).toBe("none");
    expect(await page.evaluate("localStorage.length")).toBe(0);
    expect(await page.evaluate("document.cookie")).toBe("");
  });
});

describe("projects and keys in the console", () => {
  test("a project shows its index in words, its embedder and what it stores", async () => {
    await page.getByRole("link", { name: "Projects", exact: true }).click();
    expect(await page.getByText("The vault").count()).toBe(0);
    const card = page.getByRole("listitem").filter({ hasText: "The shipyard" });
    for (const part of [/27 files, \d+ chunks/, /^complete$/, /changed .+/]) {
      await card.getByText(part).first().waitFor();
    }
    await page.getByRole("link", { name: "The shipyard" }).click();
    const has = async (name: string, text: string) => {
      await page.getByRole("region", { name, exact: true }).getByText(text).first().waitFor();
    };
    await has("Index", "Everything that was written can be found.");
    await has("Project", "hashing");
    await has("Stored", "27, no limit");
    await has("Stored", "Files of all environments and releases");
  });

  test("the name of a key and a slug are on one line, on a desktop and on a phone", async () => {
    const slug = "yard-of-the-north";
    const project = (await api.post("/projects", { name: "The yard", slug }, owner)).body;
    await api.post(
      "/api-keys",
      { name: "pipeline-of-the-yard", project_id: project.id, scopes: ["projects.read"] },
      owner,
    );
    const tab = await signedIn("#/none");
    for (const screen of [DESKTOP, PHONE]) {
      await tab.page.setViewportSize(screen);
      for (const address of ["#/keys", "#/projects", `#/projects/${slug}`]) {
        await visit(tab, address);
        await tab.page.locator(".name").filter({ hasText: slug }).first().waitFor();
        const broken = await tab.page.evaluate(`[...document.querySelectorAll(".name")]
          .filter((name) => name.offsetHeight > 1.5 * parseFloat(getComputedStyle(name).lineHeight))
          .map(({ textContent }) => textContent)`);
        expect(broken, `${address} at ${screen.width}`).toEqual([]);
      }
    }
    await tab.page.close();
  });

  test("a created key is shown once and works, and a revoked one is gone and refused", async () => {
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByLabel("Name").fill("<b>from the console</b>");
    await page.getByText("Permissions: all of this credential").click();
    await page.getByLabel("projects.read").check();
    await page.getByRole("button", { name: "Create key" }).click();
    const created = (await page.locator("#new-key").textContent()) as string;
    const statusOf = async () =>
      (await api.get("/projects", { userId: "", headers: { "x-api-key": created } })).status;
    expect(await statusOf()).toBe(200);
    const row = page.getByRole("row").filter({ hasText: "<b>from the console</b>" });
    await row.getByText("projects.read", { exact: true }).waitFor();
    const revoke = page.getByRole("button", { name: "Revoke <b>from the console</b>" });
    await revoke.click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await revoke.waitFor({ state: "detached" });
    expect(await statusOf()).toBe(401);
  });
});

describe("a credential with fewer rights in the console", () => {
  test("sees why it cannot do something instead of the action, before it tries", async () => {
    const project = (await api.get("/projects/shipyard", owner)).body;
    const bound = await api.key(owner, { project });
    const reading = await api.key(owner, {
      scopes: ["projects.read", "files.read", "api_keys.read"],
    });
    const guest = await api.user();
    await api.join(guest, project, "member");
    const guests = await api.key(guest);
    const without = (permission: string) => `This key lacks the permission ${permission}.`;
    const roleOf = (needed: string) => `You are member of this project, and this needs ${needed}.`;
    const refusals = [
      [bound.key, "#/projects", "New project", "This key reaches one project only."],
      [reading.key, "#/projects", "New project", without("projects.create")],
      [reading.key, "#/keys", "Create key", without("api_keys.create")],
      [reading.key, "#/projects/shipyard/files", "Upload files", without("files.write")],
      [guests.key, "#/projects/shipyard/files", "Upload files", roleOf("editor")],
      [guests.key, "#/projects/shipyard/releases", "Create release", roleOf("editor")],
      [guests.key, "#/projects/shipyard/releases", "Add environment", roleOf("editor")],
      [guests.key, "#/projects/shipyard/members", "Invite", roleOf("owner")],
      [guests.key, "#/projects/shipyard/settings", "Save", roleOf("owner")],
      [guests.key, "#/projects/shipyard/settings", "Delete project", roleOf("owner")],
    ] as const;
    for (const credential of new Set(refusals.map(([credential]) => credential))) {
      const tab = await signedIn("#/none", DESKTOP, credential);
      for (const [, address, action, reason] of refusals.filter(([own]) => own === credential)) {
        await visit(tab, address);
        await tab.page.getByText(reason).first().waitFor();
        const button = tab.page.getByRole("button", { name: action, exact: true });
        expect(await button.count(), `${address} ${action}`).toBe(0);
      }
      await tab.page.close();
    }
    // The same actions are there for the owner.
    const tab = await signedIn("#/none");
    for (const [, address, action] of refusals) {
      await visit(tab, address);
      await tab.page.getByRole("button", { name: action, exact: true }).first().waitFor();
    }
    await tab.page.close();
  });
});

const VIEWS = [
  "#/search?project=shipyard",
  "#/search?project=shipyard&q=crane",
  "#/search?project=shipyard&q=rope&file=harbour/ropes.md",
  "#/projects",
  "#/projects/shipyard",
  "#/projects/shipyard/files",
  "#/projects/shipyard/releases",
  "#/projects/shipyard/members",
  "#/projects/shipyard/questions",
  "#/projects/shipyard/audit",
  "#/projects/shipyard/deliveries",
  "#/projects/shipyard/settings",
  "#/operate",
  "#/keys",
];

const SCREENS = [
  [DESKTOP, "light"],
  [PHONE, "dark"],
] as const;

/** Most of it is the reader of Markdown. */
const GZIPPED_MAX_BYTES = 100_000;
/** Time for a dialog to open after its key, before the key is pressed again. */
const PRESSED_MS = 10_000;

describe("every view of the console", () => {
  test("has no horizontal overflow on a phone, and nothing that hinders people with disabilities on it in the dark and on a desktop in light", async () => {
    const phone = await signedIn("#/search", { ...PHONE, colorScheme: "dark" });
    const hindered: string[] = [];
    for (const address of VIEWS) {
      await visit(phone, address);
      await phone.page.locator(".panel:visible, .result:visible").first().waitFor();
      const width = await phone.page.evaluate("document.documentElement.scrollWidth");
      expect(width, address).toBeLessThanOrEqual(PHONE.width);
      // On a phone a cell is its name and one thing beside it.
      const cells = `document.querySelectorAll(".table td:not(:has(> :only-child))").length`;
      expect(await phone.page.evaluate(cells), address).toBe(0);
      for (const [screen, colorScheme] of SCREENS) {
        await phone.page.setViewportSize(screen);
        await phone.page.emulateMedia({ colorScheme });
        const found = await accessFaults(phone.page);
        hindered.push(...found.map((fault) => `${address} at ${screen.width}: ${fault}`));
      }
      await phone.page.setViewportSize(PHONE);
    }
    expect(hindered).toEqual([]);
    expect(phone.faults).toEqual([]);
  });

  test("opens its dialogs by the keyboard, which hinder nobody and give the focus back", async () => {
    const tab = await signedIn("#/none");
    const dialogs = [
      ["#/search?project=shipyard", "Filter"],
      ["#/search?project=shipyard", "By vector"],
      ["#/search?project=shipyard&q=crane", "Show as code"],
      ["#/projects", "New project"],
      ["#/projects/shipyard/files", "Remove harbour/ropes.md"],
      ["#/projects/shipyard/settings", "Delete project"],
    ] as const;
    for (const [address, name] of dialogs) {
      await visit(tab, address);
      const button = tab.page.getByRole("button", { name, exact: true });
      const dialog = tab.page.getByRole("dialog");
      const opens = () =>
        dialog.waitFor({ timeout: PRESSED_MS }).then(
          () => true,
          () => false,
        );
      // The search box takes the focus when it is drawn, and with it a key that is pressed at that moment.
      await until(`the dialog of ${name} is open`, async () => {
        await button.press("Enter");
        return await opens();
      });
      await drawn(tab.page);
      expect(await accessFaults(tab.page), name).toEqual([]);
      const isWithin = `document.querySelector("dialog[open]").contains(document.activeElement)`;
      expect(await tab.page.evaluate(isWithin), name).toBe(true);
      await tab.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      const isFocused = (element: Json) => element === element.ownerDocument.activeElement;
      expect(await button.evaluate(isFocused), name).toBe(true);
    }
    expect(tab.faults).toEqual([]);
    await tab.page.close();
  });

  test("takes at most 100 KB, compressed, with all that it needs", async () => {
    const names = ["", "/main.js", "/main.css", "/icon.svg"];
    const sizes = await Promise.all(
      names.map(async (name) => {
        const headers = { "accept-encoding": "gzip" };
        const answer = await fetch(`${api.url}/console${name}`, { headers, decompress: false });
        return (await answer.arrayBuffer()).byteLength;
      }),
    );
    expect(sizes.every((size) => size > 0)).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(GZIPPED_MAX_BYTES);
  });

  test("was not blocked by the policy, did not fail, and loaded nothing from another host", () => {
    expect(faults).toEqual([]);
  });

  test("cannot make markup of a text, even if a script asks for it", async () => {
    const refused = await page.evaluate(`(() => {
      try { document.createElement("p").innerHTML = "<b>text</b>"; return "made"; }
      catch (error) { return error.name; }
    })()`);
    expect(refused).toBe("TypeError");
    faults.length = 0;
  });

  test("ends with the sign-out, which forgets the credential", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key or JWT").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("asks for the credential again when the service no longer accepts it", async () => {
    const { id, key: own } = await api.key(owner);
    const tab = await signedIn("#/keys", DESKTOP, own);
    await tab.page.getByRole("table", { name: "Keys" }).waitFor();
    await api.send("DELETE", `/api-keys/${id}`, { as: owner });
    await tab.page.getByRole("link", { name: "Projects", exact: true }).click();
    await tab.page.getByLabel("API key or JWT").waitFor();
  });
});
