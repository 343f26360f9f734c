import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CURSOR_MAX_CHARS } from "../../../src/domain/limits.ts";
import { CursorSigner, openCursorSigner } from "../../../src/http/cursor.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";

const signer = new CursorSigner(new Uint8Array(32).fill(7));
const refused = (open: () => unknown) => {
  expect(open).toThrow(expect.objectContaining({ slug: "invalid-cursor" }));
};

describe("a cursor", () => {
  test("a cursor opens to its position, under its own binding only", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), fc.string(), (position, binding, other) => {
        const cursor = signer.seal(binding, position);
        expect(signer.open(binding, cursor)).toEqual(JSON.parse(JSON.stringify(position)));
        if (other !== binding) refused(() => signer.open(other, cursor));
      }),
    );
  });

  test("a cursor does not open under a binding that takes the first characters of its position", () => {
    const digest = Buffer.from(signer.seal("chunks:1", 23), "base64url").subarray(0, 32);
    const moved = Buffer.concat([digest, Buffer.from("3")]).toString("base64url");
    refused(() => signer.open("chunks:12", moved));
  });

  test("a cursor is safe in a URL without escaping", () => {
    const cursor = signer.seal("b", { path: "é ?&=/+\0" });
    expect(encodeURIComponent(cursor)).toBe(cursor);
  });

  test("a cursor with any character changed is refused", () => {
    const cursor = signer.seal("b", [50, true, "docs/a.md"]);
    for (let place = 0; place < cursor.length; place++) {
      const other = cursor[place] === "A" ? "B" : "A";
      refused(() => signer.open("b", cursor.slice(0, place) + other + cursor.slice(place + 1)));
    }
  });

  test("a cursor that is truncated, extended, padded, made up or too long is refused", () => {
    const cursor = signer.seal("b", 1);
    const forged = Buffer.concat([Buffer.alloc(32), Buffer.from("1")]).toString("base64url");
    for (const odd of [
      "",
      "A",
      cursor.slice(1),
      cursor.slice(0, -2),
      `${cursor}AAAA`,
      `${cursor}=`,
    ]) {
      refused(() => signer.open("b", odd));
    }
    for (const odd of [forged, `${cursor}\n`, "é", "A".repeat(CURSOR_MAX_CHARS + 1)]) {
      refused(() => signer.open("b", odd));
    }
  });

  test("a cursor opens in every process of its database, and in no other database", async () => {
    const [one, other] = [await createTestDatabase(), await createTestDatabase()];
    await other.sql`UPDATE service_secrets SET secret = sha256('another') WHERE name = 'cursor'`;
    const cursor = (await openCursorSigner(one.sql)).seal("b", "position");
    expect((await openCursorSigner(one.sql)).open("b", cursor)).toBe("position");
    const foreign = await openCursorSigner(other.sql);
    refused(() => foreign.open("b", cursor));
  });
});
