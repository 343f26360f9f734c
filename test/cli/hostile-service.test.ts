import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { jsonLines } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { HOSTILE_BEHAVIOURS, startHostile } from "../faults/hostile-services.ts";

const KEY = "tsr_key-of-the-user-that-nobody-else-may-see";
/** Clears the screen, changes the title, begins a sequence in one byte, turns the text around. */
const CODES = "\u001b[2J\u001b]0;title\u0007\u009b31m\u202e";
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const server = startHostile();

/** The commands that ask a service, on a folder with one file. */
async function commands() {
  const folder = temporaryFolder("hostile");
  writeFileSync(join(folder, "a.md"), "# A");
  const place = ["--project", "handbook", "--url", server.url, "--key", KEY];
  const results = [];
  for (const args of [
    ["sync", folder, ...place, "--yes"],
    ["search", "words", ...place],
    ["search", "words", ...place, "--json"],
    ["lookup", "words", ...place],
  ]) {
    const data = temporaryFolder("data");
    const result = await callCommand(args, { env: { DATA_DIR: data } });
    results.push({ name: args.join(" "), ...result, left: readdirSync(data) });
  }
  return { folder, results };
}

describe("the commands that ask a service", () => {
  const useless = HOSTILE_BEHAVIOURS.filter((what) => !/without end$|other JSON$/.test(what));

  test.each(useless)("that %s give up, follow it nowhere and write nothing", async (what) => {
    server.behaviour = what;
    const { folder, results } = await commands();
    for (const { name, status, stdout, stderr, left } of results) {
      expect(status, name).toBe(1);
      expect(stderr, name).toStartWith("tessera: ");
      expect(stdout + stderr).not.toContain(KEY);
      expect(stdout + stderr).not.toMatch(OBEYED);
      expect(left).toEqual([]);
    }
    expect(server.strayed).toEqual([]);
    expect(readdirSync(folder)).toEqual(["a.md"]);
  });

  test("print its names without the codes that a terminal obeys, and write none of them", async () => {
    server.behaviour = "good";
    const paths = [
      `${CODES}x.md`,
      "../../up.md",
      "/etc/abs.md",
      "..",
      `${"a/".repeat(200)}deep.md`,
    ];
    const highlight = { text: `words ${CODES}`, matches: [[0, 5]] };
    const asked: string[] = [];
    server.good = (request) => {
      const { pathname } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      if (request.method === "DELETE") {
        const body = { type: "x", title: "x", status: 409, detail: `refused ${CODES}` };
        const headers = { "content-type": "application/problem+json" };
        return new Response(JSON.stringify(body), { status: 409, headers });
      }
      if (request.method === "PUT") {
        return Response.json({ version_id: "1", warnings: [{ message: `odd ${CODES}` }] });
      }
      if (request.method === "POST") {
        const data = paths.map((path) => ({
          path,
          score: 1,
          title: CODES,
          snippet: highlight,
          highlight,
          chunk: { file_path: path, index: 0, content: CODES },
          file: { path },
        }));
        return Response.json({ data, page_info: { next: null } });
      }
      if (!pathname.endsWith("/files"))
        return Response.json({ slug: "handbook", environments: [] });
      const data = paths.map((path) => ({ path, version_id: "v1", size: 1 }));
      return Response.json({ data, page_info: { next: null } });
    };
    const { folder, results } = await commands();
    for (const { name, stdout, stderr } of results) {
      expect(stdout + stderr, name).toContain("up.md");
      expect(stdout + stderr, name).not.toMatch(OBEYED);
    }
    const json = results.find(({ name }) => name.endsWith("--json"))?.stdout ?? "";
    expect(jsonLines(json).map(({ title }) => title)).toEqual(paths.map(() => CODES));
    expect(readdirSync(folder)).toEqual(["a.md"]);
    // No name of a file leads to another operation.
    const removals = asked.filter((each) => each.startsWith("DELETE"));
    expect(removals.length).toBeGreaterThan(0);
    for (const each of removals)
      expect(each).toMatch(/^DELETE \/projects\/handbook\/files\/[^/]+$/);
  });
});
