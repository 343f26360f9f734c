/** Sends the request on standard input and prints the answer: k6 scripts wait for each request. */
export {};

const { method, url, headers, body } = (await Bun.stdin.json()) as {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
};
const started = performance.now();
const response = await fetch(url, { method, headers, body });
const text = await response.text();
process.stdout.write(
  JSON.stringify({
    status: response.status,
    // k6 has the canonical names of headers.
    headers: Object.fromEntries(
      [...response.headers].map(([name, value]) => [
        name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
        value,
      ]),
    ),
    body: text,
    duration: performance.now() - started,
  }),
);
