import { describe, expect, test } from "bun:test";
import { BucketObjects } from "../../../../src/indexing/copies/bucket-objects.ts";
import { onCleanup } from "../../../../support/cleanup.ts";

/** A store that answers every request with this, and the requests that it has got. */
function storeOf(answer: (asked: number) => Response) {
  const requests: URL[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      requests.push(new URL(url));
      return answer(requests.length);
    },
  });
  onCleanup(() => server.stop(true));
  const objects = new BucketObjects({
    ...{ bucket: "b", prefix: "ours & theirs/", region: "r", sessionToken: undefined },
    ...{ endpoint: server.url.origin, accessKeyId: "id", secretAccessKey: "secret" },
  });
  return { objects, requests };
}

const page = (contents: string, more = "<IsTruncated>false</IsTruncated>") =>
  new Response(`<?xml version="1.0"?><ListBucketResult>${more}${contents}</ListBucketResult>`);
const entry = (key: string, size: string | number = 7) =>
  `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`;

describe("a listing of a store", () => {
  test("has the names below the folder, encoded or not, and none that leads elsewhere", async () => {
    const hostile = [
      "../up",
      "a/../../b",
      "/abs",
      "..",
      ".",
      "",
      ".hidden",
      "a b",
      "a%2Fb",
      "x\u001b",
    ];
    for (const [encoding, prefix] of [
      ["", "ours &amp; theirs/db/project/"],
      ["<EncodingType>url</EncodingType>", "ours+%26+theirs%2Fdb%2Fproject/"],
    ]) {
      const keys = ["manifest.json", "0a.1b", ...hostile].map((name) => entry(prefix + name));
      const odd = [
        entry("theirs/db/project/x"),
        entry(`${prefix}size`, "many"),
        "<Contents></Contents>",
      ];
      const { objects, requests } = storeOf(() =>
        page(`${encoding}${keys.join("")}${odd.join("")}`),
      );
      expect([...(await objects.list("db/project"))]).toEqual([
        ["manifest.json", 7],
        ["0a.1b", 7],
      ]);
      expect(requests[0]?.searchParams.get("prefix")).toBe("ours & theirs/db/project/");
      await objects.deleteFolder("db/project");
      const asked = requests.slice(2).map(({ pathname }) => decodeURIComponent(pathname));
      const folder = "/b/ours & theirs/db/project";
      expect(asked).toEqual([`${folder}/manifest.json`, `${folder}/0a.1b`]);
    }
  });

  test("that never ends is given up", async () => {
    const { objects, requests } = storeOf((asked) =>
      page(
        "",
        `<IsTruncated>true</IsTruncated><NextContinuationToken>${asked}</NextContinuationToken>`,
      ),
    );
    await expect(objects.folders("db")).rejects.toThrow("do not end");
    expect(requests[1]?.searchParams.get("continuation-token")).toBe("1");
  });

  test.each([
    ["is cut", "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>p"],
    ["has no end", "<ListBucketResult><IsTruncated>false</IsTruncated>"],
    ["does not say whether there is more", "<ListBucketResult></ListBucketResult>"],
    ["hides its next page", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"],
    ["is no listing", "<Error><Code>Busy</Code></Error>"],
  ])("that %s is no listing, and nothing is taken from it", async (_, text) => {
    const { objects } = storeOf(() => new Response(text));
    await expect(objects.list("db/project")).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("an object of a store", () => {
  test("that is longer than it should be is damaged, and a long reason for a failure is not", async () => {
    const long = "x".repeat(2_000_000);
    const { objects } = storeOf((asked) => new Response(long, { status: asked === 1 ? 200 : 503 }));
    await expect(objects.get("a", 10, 5_000)).rejects.toMatchObject({ kind: "damaged" });
    await expect(objects.get("a", 10, 5_000)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("that drips is given up in time", async () => {
    const { objects } = storeOf(
      () =>
        new Response(
          new ReadableStream({
            async pull(to) {
              to.enqueue(new Uint8Array(1));
              await Bun.sleep(20);
            },
          }),
        ),
    );
    await expect(objects.get("a", 1_000_000, 200)).rejects.toMatchObject({ kind: "unavailable" });
  });
});
