import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { OVERLOADED } from "../../../src/domain/problem/problem.ts";
import type { HttpContext } from "../../../src/http/pipeline.ts";
import { answerProblems, pageMounter } from "../../../src/http/router.ts";

const FAILURE = new Error("a cause that callers must not see");

/** Pages, of which some fail, and one is refused for lack of a turn. */
function world() {
  const lines: object[] = [];
  const note = (line: object) => lines.push(line);
  const log = { error: note, warn: note } as unknown as HttpContext["log"];
  let isFull = false;
  const acquire = () => {
    if (isFull) throw OVERLOADED;
  };
  const gates = { starts: { acquire } } as unknown as HttpContext["gates"];
  const context = { baseUrl: "http://base", gates, log } as unknown as HttpContext;
  const app = new Elysia({ normalize: false });
  answerProblems(app, context);
  const mount = pageMounter(app, context);
  mount("/page.html", () => new Response("a page"));
  mount("/throws", () => {
    throw FAILURE;
  });
  mount("/rejects", () => Promise.reject(FAILURE));
  const ask = (path: string, method = "GET") =>
    app.fetch(new Request(`http://host.example${path}`, { method }));
  return {
    ask,
    lines,
    fill: () => {
      isFull = true;
    },
  };
}

test.each(["/throws", "/rejects"])(
  "an error of the page %s is answered with a problem, whose cause is in the log",
  async (path) => {
    const { ask, lines } = world();
    const response = await ask(path);
    expect(response.status).toBe(500);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    const requestId = response.headers.get("x-request-id");
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      slug: "internal-error",
      instance: `urn:request:${requestId}`,
    });
    expect(text).not.toContain("cause");
    expect(lines).toMatchObject([{ requestId, slug: "internal-error", err: FAILURE }]);
  },
);

test("a page without a turn of the event loop is refused with the problem of overload", async () => {
  const { ask, fill } = world();
  expect(await (await ask("/page.html")).text()).toBe("a page");
  fill();
  const response = await ask("/page.html");
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await response.json()).toMatchObject({ slug: "overloaded" });
});

test("another method of a page is answered 405 with those that it has, and an unknown path 404", async () => {
  const { ask } = world();
  const response = await ask("/page.html", "POST");
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect(await response.json()).toMatchObject({ slug: "method-not-allowed" });
  const unknown = await ask("/page-html");
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ slug: "route-not-found" });
});
