import { describe, expect, test } from "bun:test";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { randomVector } from "../../support/api/versions.ts";
import { addFile } from "../../support/content.ts";

const BASE_PATH = "/search/v1";
const api = await startApi({ env: { BASE_URL: `https://api.example.com${BASE_PATH}/` } });
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(api.sql, project);
await addRelease(api.sql, project, "v1");
await addFile(api.sql, project, "a.md", 3);
const at = `/projects/${project.slug}`;
const query = { vector: Array.from(randomVector(768, 1)), dimension: 768 };

describe("behind a proxy that removes the path of BASE_URL", () => {
  test("the links of a search, of a lookup and of every list begin with the path", async () => {
    expect(environment.name).toBe("production");
    for (const scope of ["environments/production", "releases/v1"]) {
      const { body } = await api.post(`${at}/${scope}/search`, query, member);
      expect(body.page_info.self).toBe(`${BASE_PATH}${at}/${scope}/search`);
    }
    const lookup = await api.post(`${at}/knowledge/lookup`, {}, member);
    expect(lookup.body.page_info.self).toBe(`${BASE_PATH}${at}/knowledge/lookup`);
    await api.project(member);
    for (const list of [`${at}/chunks`, "/projects"]) {
      const first = (await api.get(`${list}?limit=1`, member)).body.page_info;
      expect(first.self).toBe(`${BASE_PATH}${list}?limit=1`);
      expect(first.next).toStartWith(`${BASE_PATH}${list}?limit=1&cursor=`);
      const second = await api.get(first.next.slice(BASE_PATH.length), member);
      expect(second.status).toBe(200);
      expect(second.body.page_info.first).toBe(`${BASE_PATH}${list}?limit=1`);
      expect(second.body.page_info.prev).toStartWith(`${BASE_PATH}${list}?limit=1&cursor=`);
    }
  });

  test("the Location of what is created begins with the path", async () => {
    const key = await api.post("/api-keys", { name: "k" }, member);
    expect(key.headers.get("location")).toBe(`${BASE_PATH}/api-keys/${key.body.id}`);
    const created = await api.post("/projects", { name: "n", slug: "located" }, member);
    expect(created.headers.get("location")).toBe(`${BASE_PATH}/projects/located`);
  });

  test("the types of problems and the pages are below the base URL", async () => {
    const { body } = await api.get(`${at}-unknown`, member);
    expect(body.type).toBe(`https://api.example.com${BASE_PATH}/errors/project-not-found`);
    const { document } = await api.contract();
    expect(document.servers).toEqual([{ url: `https://api.example.com${BASE_PATH}` }]);
    for (const path of ["/docs", "/console"]) {
      const page = await (await fetch(api.url + path)).text();
      // Without a picture, which needs no address.
      const links = [...page.matchAll(/(?:href|src)="((?!data:)[^"]+)"/g)].map(([, link]) => link);
      expect(links.length, path).toBeGreaterThan(2);
      for (const link of links) expect(link).toMatch(/^\/search\/v1\/(docs\/|console(\/|$))/);
    }
  });
});
