import { expect, test } from "bun:test";
import { connect } from "node:net";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const user = await api.user();
const port = Number(new URL(api.url).port);

/** The response to exactly these bytes. */
function exchange(lines: readonly string[], body = ""): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`${[...lines, "Connection: close", "", ""].join("\r\n")}${body}`);
  });
  socket.on("data", (bytes) => {
    text += bytes;
  });
  socket.on("close", () => resolve(text));
  socket.on("error", reject);
  return promise;
}

const HOSTS = ["a", "api", "b:1", "localhost", "", "[::1]:80", "10.0.0.1", "api.example.com:8080"];

const MALFORMED = [
  "a b/c?d",
  "[",
  "a%2fb",
  "a%zz",
  "x@y",
  "http://x/",
  "a:b",
  "::1",
  "<>",
  "a\\b",
  "é",
];

test.each(HOSTS)("a request to the host %p is routed by its path alone", async (host) => {
  expect(await exchange(["GET /livez HTTP/1.1", `Host: ${host}`])).toStartWith("HTTP/1.1 200");
  const unknown = await exchange(["GET /nowhere HTTP/1.1", `Host: ${host}`]);
  expect(unknown).toStartWith("HTTP/1.1 404");
  expect(unknown).toContain('"slug":"route-not-found"');
});

test("a path with two slashes at its beginning is not that with one", async () => {
  for (const path of ["//livez", "///livez", "//projects?limit=1"]) {
    expect(await exchange([`GET ${path} HTTP/1.1`, "Host: api"])).toContain('"route-not-found"');
  }
});

test.each(HOSTS)("a body sent to the host %p is read whole", async (host) => {
  const name = "k".repeat(255);
  const body = JSON.stringify({ name });
  const answer = await exchange(
    [
      "POST /api-keys?from=test HTTP/1.1",
      `Host: ${host}`,
      `Authorization: ${user.headers.authorization}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ],
    body,
  );
  expect(answer).toStartWith("HTTP/1.1 201");
  expect(answer).toContain(`"name":"${name}"`);
});

test.each(MALFORMED)("a request to the malformed host %p is refused as invalid", async (host) => {
  for (const path of ["/livez", "/nowhere", "/conversations/x"]) {
    const answer = await exchange([`GET ${path} HTTP/1.1`, `Host: ${host}`]);
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(answer).toContain('"slug":"validation-failed"');
    expect(answer).toContain(`"type":"${api.url}/errors/validation-failed"`);
    expect(answer).toContain('"field":"Host"');
  }
});

test("two Host headers are refused as invalid", async () => {
  const answer = await exchange(["GET /livez HTTP/1.1", "Host: a", "Host: b"]);
  expect(answer).toStartWith("HTTP/1.1 400");
});

test.each(HOSTS)(
  "a body in chunks above the limit that is sent to the host %p is too large",
  async (host) => {
    const chunk = `${(0x40000).toString(16)}\r\n${"x".repeat(0x40000)}\r\n`;
    const answer = await exchange(
      [
        "POST /api-keys HTTP/1.1",
        `Host: ${host}`,
        `Authorization: ${user.headers.authorization}`,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
      ],
      `${chunk.repeat(5)}0\r\n\r\n`,
    );
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain('"slug":"payload-too-large"');
  },
);

test("an HTTP/1.0 request, which needs no host, is answered", async () => {
  expect(await exchange(["GET /livez HTTP/1.0"])).toStartWith("HTTP/1.1 200");
  expect(await exchange(["GET /errors/overloaded HTTP/1.0"])).toStartWith("HTTP/1.1 401");
});
