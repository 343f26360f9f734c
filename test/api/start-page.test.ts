import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("the address of the service itself", () => {
  test("sends browsers to the console, and tells others where everything is", async () => {
    const page = await fetch(`${api.url}/`, { redirect: "manual", headers: { accept: BROWSER } });
    expect(page.status).toBe(302);
    expect(page.headers.get("location")).toBe("/console");
    const body = (await (await fetch(api.url)).json()) as Record<string, string>;
    const { console = "", docs = "", openapi = "", health = "", ...rest } = body;
    expect(rest).toEqual({ name: "Tessera", version: expect.any(String) });
    expect(health).toBe("/readyz");
    for (const path of [console, docs, openapi]) {
      expect((await fetch(`${api.url}${path}`)).status, path).toBe(200);
    }
  });

  test("has the OpenAPI document at /openapi.json", async () => {
    const document = await fetch(`${api.url}/openapi.json`);
    expect(document.headers.get("content-type")).toStartWith("application/json");
    const other = await fetch(`${api.url}/docs/json`);
    expect(await document.text()).toBe(await other.text());
  });
});
