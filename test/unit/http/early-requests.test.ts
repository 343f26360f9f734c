import { describe, expect, test } from "bun:test";
import { EarlyRequests } from "../../../src/http/early-requests.ts";
import { STARTING_REQUESTS_MAX } from "../../../src/shared/limits.ts";

const request = (path: string) => new Request(`http://localhost${path}`);
const application = (request: Request) => new Response(new URL(request.url).pathname);

describe("while the service starts", () => {
  test("a request waits, and the application answers it", async () => {
    const early = new EarlyRequests();
    const answers = ["/projects", "/errors"].map((path) => early.answer(request(path)));
    early.end(application);
    expect(await Promise.all((await Promise.all(answers)).map((each) => each.text()))).toEqual([
      "/projects",
      "/errors",
    ]);
  });

  test("probes are answered at once: it is alive, and not ready", async () => {
    const early = new EarlyRequests();
    expect((await early.answer(request("/livez"))).status).toBe(200);
    const ready = await early.answer(request("/readyz"));
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      status: "not_ready",
      reasons: { service: "is starting" },
    });
  });

  test("a request gets 503 with Retry-After when the start takes too long or ends", async () => {
    const slow = await new EarlyRequests(10).answer(request("/projects"));
    expect(slow.status).toBe(503);
    expect(slow.headers.get("retry-after")).toBe("1");
    const early = new EarlyRequests();
    const answer = early.answer(request("/projects"));
    early.end();
    expect((await answer).status).toBe(503);
  });

  test("only so many requests wait, and others get 503 at once", async () => {
    const early = new EarlyRequests();
    const waiting = Array.from({ length: STARTING_REQUESTS_MAX }, () =>
      early.answer(request("/projects")),
    );
    expect((await early.answer(request("/projects"))).status).toBe(503);
    early.end(application);
    expect((await Promise.all(waiting)).every((each) => each.status === 200)).toBe(true);
    expect((await early.answer(request("/projects"))).status).toBe(200);
  });
});
