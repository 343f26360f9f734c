import { describe, expect, test } from "bun:test";
import { STARTING_REQUESTS_MAX } from "../../../src/domain/limits.ts";
import { StartupResponder } from "../../../src/http/startup-responder.ts";

const BASE_URL = "https://api.example.com/search";
const request = (path: string, headers: Record<string, string> = {}) =>
  new Request(`http://localhost${path}`, { headers });
const application = (request: Request) => new Response(new URL(request.url).pathname);

describe("while the service starts", () => {
  test("a request waits, and the application answers it", async () => {
    const early = new StartupResponder(BASE_URL);
    const answers = ["/projects", "/errors"].map((path) => early.answer(request(path)));
    early.end(application);
    expect(await Promise.all((await Promise.all(answers)).map((each) => each.text()))).toEqual([
      "/projects",
      "/errors",
    ]);
  });

  test("probes are answered at once: it is alive, and not ready", async () => {
    const early = new StartupResponder(BASE_URL);
    expect((await early.answer(request("/livez"))).status).toBe(200);
    const ready = await early.answer(request("/readyz"));
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      status: "not_ready",
      reasons: { service: "is starting" },
    });
  });

  test("a request gets 503 with Retry-After when the start takes too long or ends", async () => {
    const slow = await new StartupResponder(BASE_URL, 10).answer(request("/projects"));
    expect(slow.status).toBe(503);
    expect(slow.headers.get("retry-after")).toBe("1");
    expect(slow.headers.get("content-type")).toBe("application/problem+json");
    const problem = await slow.json();
    expect(problem).toMatchObject({
      type: `${BASE_URL}/errors/dependency-unavailable`,
      status: 503,
      slug: "dependency-unavailable",
      detail: "The service is starting.",
      instance: `urn:request:${slow.headers.get("x-request-id")}`,
    });
    const early = new StartupResponder(BASE_URL);
    const answer = early.answer(request("/projects"));
    early.end();
    expect((await answer).status).toBe(503);
  });

  test("a refused request keeps the id that its caller gave", async () => {
    const early = new StartupResponder(BASE_URL, 10);
    const answer = await early.answer(request("/projects", { "x-request-id": "mine.1" }));
    expect(answer.headers.get("x-request-id")).toBe("mine.1");
    expect(await answer.json()).toMatchObject({ instance: "urn:request:mine.1" });
  });

  test.each([
    [
      "credential",
      { authorization: "Bearer busy" },
      "1.1.1.1",
      { "x-api-key": "other" },
      "1.1.1.1",
    ],
    ["address", {}, "1.1.1.1", {}, "2.2.2.2"],
  ])("callers of another %s can wait beside one who sends too many requests", async (...row) => {
    const [, busy, busyAddress, other, otherAddress] = row;
    const early = new StartupResponder(BASE_URL);
    const flood = Array.from({ length: STARTING_REQUESTS_MAX }, () =>
      early.answer(request("/projects", busy as Record<string, string>), busyAddress),
    );
    const beside = early.answer(
      request("/projects", other as Record<string, string>),
      otherAddress,
    );
    early.end(application);
    expect((await beside).status).toBe(200);
    const statuses = (await Promise.all(flood)).map((each) => each.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(STARTING_REQUESTS_MAX / 2);
    expect(statuses.filter((status) => status === 503)).toHaveLength(STARTING_REQUESTS_MAX / 2);
    expect((await early.answer(request("/projects"), busyAddress)).status).toBe(200);
  });
});
