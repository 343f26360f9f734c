import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";
import { api, owner, signedIn, visit } from "./world.ts";

needs("chromium");

const SLUG = "lighthouse";
const watched = await signedIn("#/projects");
const { page } = watched;

const pathsIn = async (query: string): Promise<string[]> => {
  const { body } = await api.get(`/projects/${SLUG}/files?${query}`, owner);
  return body.data.map(({ path }: { path: string }) => path);
};
const region = (name: string) => page.getByRole("region", { name, exact: true });
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
const open = (part: string) => visit(watched, `#/projects/${SLUG}/${part}`);

describe("a project in the console", () => {
  test("is made with a name from which its slug follows, and opens at its files", async () => {
    await press("New project");
    await page.getByLabel("Name", { exact: true }).fill("Lighthouse");
    const embedders = (await api.get("/embedders", owner)).body.data;
    const names = embedders.map(({ name }: { name: string }) => name);
    const options = page.getByLabel("Embedder").locator("option");
    await options.nth(names.length).waitFor({ state: "attached" });
    expect(await options.evaluateAll((all) => all.map(({ value }: Json) => value))).toEqual([
      ...["", ...names],
    ]);
    await press("Create project");
    await page.getByText("No files yet.").waitFor();
    const command = await region("Command").textContent();
    expect(command).toBe(
      `tessera sync ./docs --project ${SLUG} --url ${api.url} --key "$TESSERA_API_KEY"`,
    );
    const { body } = await api.get(`/projects/${SLUG}`, owner);
    expect(body).toMatchObject({ name: "Lighthouse", embedder: "hashing" });
  });

  test("takes chosen files into a folder, shows them as a tree, and says of each that fails why", async () => {
    const folder = temporaryFolder("uploads");
    const files = {
      "lamp.md": "# Lamp\n\nIt turns.",
      "log.txt": "Calm.",
      "photo.png": "\xff\xfe\xfa",
    };
    const paths = Object.entries(files).map(([name, content]) => {
      const path = join(folder, name);
      writeFileSync(path, content, "latin1");
      return path;
    });
    await page.getByLabel("Into the folder").fill("tower");
    await page.getByLabel("Files to upload").setInputFiles(paths);
    await page.getByText("2 of 3 files stored").waitFor();
    expect(await page.getByRole("alert").textContent()).toBe(
      "tower/photo.png It is not text in UTF-8.",
    );
    await page.getByRole("link", { name: "lamp.md" }).waitFor();
    expect(await page.getByRole("group").first().textContent()).toContain("tower2");
    expect(await pathsIn("")).toEqual(["tower/lamp.md", "tower/log.txt"]);
  });

  test("takes a folder with what is in it, by a button", async () => {
    const folder = temporaryFolder("uploads");
    mkdirSync(join(folder, "bay/deep"), { recursive: true });
    writeFileSync(join(folder, "bay/deep/buoy.md"), "# Buoy");
    await page.getByLabel("Into the folder").fill("");
    await page.getByLabel("Folder to upload").setInputFiles(join(folder, "bay"));
    await page.getByText("1 of 1 file stored").waitFor();
    expect(await pathsIn("")).toContain("bay/deep/buoy.md");
    await api.send(
      "DELETE",
      `/projects/${SLUG}/files/bay%2Fdeep%2Fbuoy.md?environment=production`,
      {
        as: owner,
      },
    );
  });

  test("takes files that are dropped on it", async () => {
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(["# Fog horn"], "horn.md", { type: "text/markdown" }));
      return data;
    })()`);
    await page.getByLabel("Into the folder").fill("");
    await page.dispatchEvent(".upload", "drop", { dataTransfer: data });
    await page.getByRole("link", { name: "horn.md" }).waitFor();
    expect(await pathsIn("")).toContain("horn.md");
  });

  test("finds files by a part of their path, which the address keeps", async () => {
    await page.getByLabel("Path contains").fill("lam");
    await page.getByText(/^1 file$/).waitFor();
    await page.reload();
    await page.getByRole("link", { name: "lamp.md" }).waitFor();
    expect(await page.getByRole("link", { name: "horn.md" }).count()).toBe(0);
    await page.getByRole("link", { name: "lamp.md" }).click();
    await region("Text of the document").getByText("It turns.").waitFor();
  });

  test("shows a lone folder open, however many files it holds", async () => {
    const yard = await api.project(owner);
    const files = Array.from({ length: 45 }, (_, index) => ({
      record: "file",
      path: `archive/${index}.md`,
      environments: ["production"],
      content: `# Box ${index}`,
    }));
    await importsOf(api, owner).report(yard, [PRODUCTION, ...files]);
    await visit(watched, `#/projects/${yard.slug}/files`);
    await page.getByRole("link", { name: "44.md" }).waitFor();
  });

  test("loses a file only after a confirmation, and its releases keep it", async () => {
    await api.post(`/projects/${SLUG}/releases`, { name: "v1", environment: "production" }, owner);
    await open("files");
    const remove = page.getByRole("button", { name: "Remove horn.md" });
    await remove.click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect(await pathsIn("")).toContain("horn.md");
    await remove.click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await remove.waitFor({ state: "detached" });
    expect(await pathsIn("")).not.toContain("horn.md");
    expect(await pathsIn("release=v1")).toContain("horn.md");
    await page.getByLabel("In", { exact: true }).selectOption("release:v1");
    await page.getByRole("link", { name: "horn.md" }).waitFor();
    expect(await remove.count()).toBe(0);
  });

  test("gets environments and releases, activates one, and compares two", async () => {
    await open("releases");
    await page.getByLabel("Name of the environment").fill("staging");
    await press("Add environment");
    await page.getByLabel("staging serves").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("v2");
    await press("Create release");
    await region("Releases").getByText("v2", { exact: true }).waitFor();
    await page.getByLabel("production serves").selectOption("v1");
    await region("Releases").getByText("production").first().waitFor();
    const { body } = await api.get(`/projects/${SLUG}`, owner);
    const v1 = body.releases.find(({ name }: { name: string }) => name === "v1").id;
    const served = body.environments.map(
      (each: { active_release_id?: string }) => each.active_release_id,
    );
    expect(served).toEqual([v1, undefined]);
    await page.getByLabel("From", { exact: true }).selectOption("release:v1");
    await page.getByLabel("To", { exact: true }).selectOption("release:v2");
    await page.getByText("0 files added, 0 changed, 1 removed").waitFor();
    await page.reload();
    await region("Compare").getByRole("link", { name: "horn.md" }).waitFor();
  });

  test("gets members with roles, and says when the last owner would go", async () => {
    const invited = await api.user({ email: "hedy@example.com" });
    await open("members");
    for (const email of ["nobody@example.com", "hedy@example.com"]) {
      await page.getByLabel("Email or id of a user").fill(email);
      await press("Invite");
      await page.getByRole("button", { name: `Withdraw the invitation of ${email}` }).waitFor();
    }
    await press("Withdraw the invitation of nobody@example.com");
    await page.getByText("nobody@example.com").waitFor({ state: "detached" });
    await api.send("PUT", `/projects/${SLUG}/members/hedy@example.com`, {
      as: invited,
      json: { role: "member" },
    });
    await open("files");
    await open("members");
    const role = page.getByLabel(/^Role of hedy/);
    await role.selectOption("editor");
    const hedy = async () => {
      const { body } = await api.get(`/projects/${SLUG}/members`, owner);
      return body.data.find(({ email }: { email?: string }) => email === "hedy@example.com");
    };
    await until("the member is an editor", async () => (await hedy()).role === "editor");
    await page.getByRole("button", { name: /^Remove hedy/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await role.waitFor({ state: "detached" });
    expect(await hedy()).toBeUndefined();
    await page.getByLabel(/^Role of/).selectOption("member");
    await page.getByRole("alert").getByText(/owner/).waitFor();
  });

  test("is deleted only once its slug is typed", async () => {
    await open("settings");
    await page.getByLabel("Name", { exact: true }).fill("Old lighthouse");
    await press("Save");
    await page.getByRole("heading", { name: "Old lighthouse" }).waitFor();
    await press("Delete project");
    const dialog = page.getByRole("dialog");
    const yes = dialog.getByRole("button", { name: "Delete for good" });
    for (const typed of ["", "lighthous", `${SLUG}s`]) {
      await dialog.getByLabel(`Type ${SLUG} to confirm`).fill(typed);
      await yes.click();
      expect(await dialog.locator("input:invalid").count(), typed).toBe(1);
      expect((await api.get(`/projects/${SLUG}`, owner)).status).toBe(200);
    }
    await dialog.getByLabel(`Type ${SLUG} to confirm`).fill(SLUG);
    await yes.click();
    await page.getByRole("link", { name: "The shipyard" }).waitFor();
    expect((await api.get(`/projects/${SLUG}`, owner)).status).toBe(404);
    expect(watched.faults).toEqual([]);
  });
});
