/**
 * Runs a k6 script some times, with stand-ins for the modules of k6 that the scripts use, and prints
 * what it has checked and recorded: `bun test/bench/k6-stand-in.ts SCRIPT ITERATIONS NAME=VALUE...`.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { plugin } from "bun";

const [script = "", iterations = "1", ...settings] = process.argv.slice(2);
const environment = Object.fromEntries(
  settings.map((setting) => {
    const at = setting.indexOf("=");
    return [setting.slice(0, at), setting.slice(at + 1)];
  }),
);

interface StandInResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timings: { readonly duration: number };
  json(path?: string): unknown;
}

const checks: Record<string, { passed: number; failed: number }> = {};
const metrics: Record<string, number[]> = {};
let expected: (status: number) => boolean = (status) => status >= 200 && status < 400;
const failed: number[] = [];

/** Reads a part of a body by names that are joined by dots. */
function select(body: string, path: string | undefined): unknown {
  const names = path?.split(".") ?? [];
  return names.reduce(
    (value, name) => (value as Record<string, unknown>)?.[name],
    JSON.parse(body),
  );
}

function post(
  url: string,
  body: string,
  { headers }: { headers: Record<string, string> },
): StandInResponse {
  const request = JSON.stringify({ method: "POST", url, headers, body });
  const child = Bun.spawnSync([process.execPath, join(import.meta.dir, "k6-fetch.ts")], {
    stdin: Buffer.from(request),
  });
  const answer = JSON.parse(child.stdout.toString());
  if (!expected(answer.status)) failed.push(answer.status);
  return {
    ...answer,
    timings: { duration: answer.duration },
    json: (path) => select(answer.body, path),
  };
}

function check(
  response: StandInResponse,
  conditions: Readonly<Record<string, (response: StandInResponse) => boolean>>,
): boolean {
  const results = Object.entries(conditions).map(([name, condition]) => {
    const isMet = condition(response);
    checks[name] ??= { passed: 0, failed: 0 };
    checks[name][isMet ? "passed" : "failed"]++;
    return isMet;
  });
  return results.every(Boolean);
}

class Metric {
  constructor(private readonly name: string) {
    metrics[name] = [];
  }

  add(value: number): void {
    metrics[this.name]?.push(value);
  }
}

class SharedArray {
  constructor(_: string, read: () => string[]) {
    Object.assign(this, read(), { length: read().length });
  }
}

const http = {
  post,
  expectedStatuses: (...statuses: number[]) => statuses,
  setResponseCallback: (statuses: number[]) => {
    expected = (status) => statuses.includes(status);
  },
};

plugin({
  name: "k6",
  setup(build) {
    build.module("k6", () => ({ exports: { check }, loader: "object" }));
    build.module("k6/http", () => ({ exports: { default: http }, loader: "object" }));
    build.module("k6/data", () => ({ exports: { SharedArray }, loader: "object" }));
    const exports = { Counter: Metric, Trend: Metric };
    build.module("k6/metrics", () => ({ exports, loader: "object" }));
  },
});
Object.assign(globalThis, {
  __ENV: environment,
  open: (path: string) => readFileSync(path, "utf8"),
});

const { default: iterate, options } = (await import(resolve(script))) as {
  default: () => void;
  options: object;
};
for (let i = 0; i < Number(iterations); i++) iterate();
process.stdout.write(JSON.stringify({ options, checks, metrics, failed }));
