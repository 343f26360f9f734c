import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addBranch } from "../../support/content.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const branch = await addBranch(sql, project);
const path = `/projects/${project.slug}/branches/${branch}/eligibility`;

async function protectedBy(protection: Json): Promise<{ project: TestProject; branch: string }> {
  const guarded = await api.project(member);
  const config = sql.json({ branch_protection: protection });
  await sql`UPDATE projects SET config = ${config} WHERE id = ${guarded.id}`;
  return { project: guarded, branch: await addBranch(sql, guarded) };
}

async function approve(branchId: string, by: string = randomUUID(), dismissed = false) {
  const id = randomUUID();
  await sql`
    INSERT INTO branch_approvals (id, branch_id, approved_by, dismissed_at)
    VALUES (${id}, ${branchId}, ${by}, ${dismissed ? new Date() : null})`;
  return id;
}

async function check(branchId: string, name: string, status: string): Promise<void> {
  await sql`
    INSERT INTO status_checks (id, branch_id, check_name, status)
    VALUES (${randomUUID()}, ${branchId}, ${name}, ${status})`;
}

async function eligibility(of: { project: TestProject; branch: string }): Promise<Json> {
  const answer = await api.get(
    `/projects/${of.project.id}/branches/${of.branch}/eligibility`,
    member,
  );
  expect(answer.status).toBe(200);
  const { body } = answer;
  expect(body.can_merge).toBe(body.blockers.length === 0);
  return body;
}

const blockers = (body: Json) =>
  body.blockers.map((blocker: Json) => [blocker.type, blocker.details.check_name]);

describe("GET /projects/{project_reference}/branches/{branchId}/eligibility", () => {
  test("a new branch needs one approval", async () => {
    const answer = await api.get(path, member);
    expect(answer.body).toEqual({
      can_merge: false,
      approvals: [],
      status_checks: [],
      blockers: [
        {
          type: "approvalRequired",
          message: "1 approval(s) required, 0 given.",
          details: { required_approvals: 1, approvals: 0 },
        },
      ],
    });
  });

  test("one approval suffices by default, and a dismissed approval is listed but does not count", async () => {
    const of = { project, branch: await addBranch(sql, project) };
    await approve(of.branch, randomUUID(), true);
    const dismissed = await eligibility(of);
    expect(dismissed.can_merge).toBe(false);
    expect(dismissed.approvals).toHaveLength(1);
    expect(dismissed.approvals[0].dismissed_at).toEndWith("Z");
    expect(dismissed.approvals[0]).not.toHaveProperty("comment");
    await approve(of.branch);
    expect((await eligibility(of)).can_merge).toBe(true);
  });

  test("several approvals by one user count once", async () => {
    const of = await protectedBy({ required_approvals: 2 });
    const approver = randomUUID();
    await approve(of.branch, approver);
    await approve(of.branch, approver);
    const body = await eligibility(of);
    expect(body.blockers[0].details).toEqual({ required_approvals: 2, approvals: 1 });
    await approve(of.branch);
    expect((await eligibility(of)).can_merge).toBe(true);
  });

  test("a project can require no approvals", async () => {
    expect((await eligibility(await protectedBy({ required_approvals: 0 }))).can_merge).toBe(true);
  });

  test("an invalid branch protection counts as the default", async () => {
    for (const required_approvals of [-1, 1.5, "2", null, {}]) {
      const body = await eligibility(await protectedBy({ required_approvals, required_checks: 7 }));
      expect(blockers(body)).toEqual([["approvalRequired", undefined]]);
    }
    expect(blockers(await eligibility(await protectedBy("none")))).toHaveLength(1);
  });

  test("by default, all checks of a branch must succeed", async () => {
    const of = await protectedBy({ required_approvals: 0 });
    await check(of.branch, "tests", "pending");
    await check(of.branch, "lint", "failure");
    await check(of.branch, "build", "success");
    const body = await eligibility(of);
    expect(blockers(body)).toEqual([
      ["statusCheckFailed", "lint"],
      ["statusCheckPending", "tests"],
    ]);
    expect(body.status_checks.map((one: Json) => [one.check_name, one.status])).toEqual([
      ["build", "success"],
      ["lint", "failure"],
      ["tests", "pending"],
    ]);
    expect(body.status_checks[0]).not.toHaveProperty("external_url");
  });

  test("required checks must exist and succeed, and other checks do not count", async () => {
    const of = await protectedBy({
      required_approvals: 0,
      required_checks: ["tests", "audit", "tests"],
    });
    await check(of.branch, "tests", "success");
    await check(of.branch, "lint", "failure");
    expect(blockers(await eligibility(of))).toEqual([["statusCheckMissing", "audit"]]);
    await check(of.branch, "audit", "success");
    expect((await eligibility(of)).can_merge).toBe(true);
  });
});
