import { beforeEach, describe, expect, test } from "bun:test";
import { ADA, DOCS, FRAME, openCli, PRODUCTION, type TestCli } from "./support.ts";

const file = (path: string, more: object = {}) => ({
  record: "file",
  project: "docs",
  path,
  ...more,
});

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

describe("an unknown field", () => {
  test("is ignored and reported once, and its record is imported", async () => {
    const path = cli.file([
      { ...ADA, shoe_size: 3 },
      { ...DOCS, members: [{ user: ADA.email, role: "owner", since: "ever" }] },
      PRODUCTION,
      { record: "release", project: "docs", name: "v1", frozen_at: "x" },
      file("a.md", {
        environments: ["production"],
        chunks: [
          { content: "a", colour: 1 },
          { content: "b", colour: 2 },
        ],
      }),
      file("b.md", { environments: ["production"], chunks: [{ content: "c", colour: 3 }] }),
    ]);
    const result = await cli.run(["import", "--strict", path]);
    expect(result.stderr.trimEnd().split("\n")).toEqual([
      `tessera: ignored unknown field user.shoe_size, first at ${path}:1`,
      `tessera: ignored unknown field project.members.since, first at ${path}:2`,
      `tessera: ignored unknown field release.frozen_at, first at ${path}:4`,
      `tessera: ignored unknown field file.chunks.colour, first at ${path}:5`,
    ]);
    expect(result.status).toBe(0);
    const [rows] = await cli.sql`SELECT count(*)::integer AS count FROM chunks`;
    expect(rows?.["count"]).toBe(3);
  });

  test("is reported with the field that was probably meant", async () => {
    const path = cli.file([
      ...FRAME,
      file("a.md", {
        enviroments: ["production"],
        releases: ["v1"],
        chunks: [{ contnet: "a", content: "b" }],
      }),
    ]);
    const { stderr } = await cli.run(["import", path]);
    expect(stderr.trimEnd().split("\n")).toEqual([
      `tessera: ignored unknown field file.enviroments, first at ${path}:4; did you mean environments?`,
      `tessera: ignored unknown field file.chunks.contnet, first at ${path}:4; did you mean content?`,
    ]);
  });
});
