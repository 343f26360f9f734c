import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parser } from "@prometheus-io/lezer-promql";
import { parse } from "yaml";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../support/api/versions.ts";
import { startRedis } from "../../support/processes/redis.ts";
import { needs } from "../../support/programs.ts";
import { scrape } from "../../support/prometheus.ts";

needs("redis-server");

const DIMENSION = 768;
/** Metrics that Prometheus makes itself. */
const OF_PROMETHEUS = new Set(["up"]);
/** Labels that Prometheus adds to every sample. */
const TARGET_LABELS = ["job", "instance"];

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly targets?: ReadonlyArray<{ readonly expr: string }>;
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

const dashboard: { uid: string; panels: Panel[]; templating: { list: Array<{ query: unknown }> } } =
  JSON.parse(readFileSync("deploy/grafana/dashboards/tessera.json", "utf8"));
const alerts: { groups: Array<{ rules: Rule[] }> } = parse(
  readFileSync("deploy/prometheus/alerts.yml", "utf8"),
);
const rules = alerts.groups.flatMap((group) => group.rules);
const plots = dashboard.panels.filter(({ type }) => type !== "row");

/** The queries of dashboard and rules, with the variables of the dashboard filled in. */
const queries = [
  ...plots.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ place: title, query: expr })),
  ),
  ...rules.map(({ alert, expr }) => ({ place: alert, query: expr })),
].map(({ place, query }) => ({
  place,
  query: query.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
}));

/** The selectors of a query with the labels that they name, and whether the query can be parsed. */
function selectorsOf(query: string) {
  const selectors: Array<{ metric: string; labels: string[] }> = [];
  let isValid = true;
  parser.parse(query).iterate({
    enter({ name, type, from, to, node }) {
      if (type.isError) isValid = false;
      if (name === "VectorSelector") {
        const metric = node.getChild("Identifier");
        selectors.push({ metric: metric ? query.slice(metric.from, metric.to) : "", labels: [] });
      }
      const isMatcher = name === "LabelName" && node.parent?.name.endsWith("LabelMatcher");
      if (isMatcher) selectors.at(-1)?.labels.push(query.slice(from, to));
    },
  });
  return { selectors, isValid };
}

/** The labels by which a query groups. */
const groupingsOf = (query: string) =>
  [...query.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));

/** A service that has been used, so that series with labels exist. */
async function usedService() {
  const redis = await startRedis();
  const api = await startApi({ env: { REDIS_URL: redis.url } });
  const { owner: user, project } = await api.ownedProject();
  const environment = await addEnvironment(api.sql, project);
  const version = await writeVersion(api.sql, project, "a.md", [
    chunkOf(randomVector(DIMENSION, 1)),
  ]);
  await attach(api.sql, project, environment.id, [version]);
  const vector = Array.from(randomVector(DIMENSION, 2));
  const path = `/projects/${project.slug}/environments/production/search`;
  expect((await api.post(path, { vector, dimension: DIMENSION }, user)).status).toBe(200);
  return await scrape(api.url);
}

const metrics = await usedService();

describe("queries of the dashboard and of the alert rules", () => {
  test("are valid", () => {
    expect(queries.length).toBeGreaterThan(30);
    expect(queries.filter(({ query }) => !selectorsOf(query).isValid)).toEqual([]);
    for (const broken of ["rate(a[5m]", "sum by (a", "a{b=c}"]) {
      expect(selectorsOf(broken).isValid, broken).toBeFalse();
    }
  });

  test("name only metrics that the service has", () => {
    const known = metrics.names;
    const unknown = queries.flatMap(({ place, query }) =>
      selectorsOf(query)
        .selectors.map(({ metric }) => metric)
        .filter((metric) => !known.has(metric) && !OF_PROMETHEUS.has(metric))
        .map((metric) => `${place}: ${metric}`),
    );
    expect(unknown).toEqual([]);
  });

  test("select and group only by labels that these metrics have", () => {
    const labelsOf = (metric: string) => [
      ...TARGET_LABELS,
      ...metrics.samples(metric).flatMap(({ labels }) => Object.keys(labels)),
    ];
    const unknown = queries.flatMap(({ place, query }) => {
      const { selectors } = selectorsOf(query);
      const all = new Set(selectors.flatMap(({ metric }) => labelsOf(metric)));
      const selected = selectors.flatMap(({ metric, labels }) =>
        labels.filter((label) => !labelsOf(metric).includes(label)),
      );
      const grouped = groupingsOf(query).filter((label) => !all.has(label));
      return [...selected, ...grouped].map((label) => `${place}: ${label}`);
    });
    expect(unknown).toEqual([]);
  });
});

test("the dashboard shows every metric of the service, and every panel says what it shows", () => {
  const shown = plots.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join("\n");
  const own = [...metrics.types.keys()].filter((name) => !/^tessera_(process|nodejs)_/.test(name));
  expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  expect(plots.filter(({ description }) => !description)).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test("every alert has a duration, a severity, a summary and says what to do", () => {
  expect(rules.length).toBeGreaterThan(8);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(rule.for, rule.alert).toMatch(/^\d+[smh]$/);
    expect(rule.labels.severity).toBeOneOf(["critical", "warning"]);
    expect(rule.annotations.summary).toContain("{{ $labels.");
    expect(rule.annotations.action).toEndWith(".");
  }
});

test("every alert is described in docs/operations.md", () => {
  const text = readFileSync("docs/operations.md", "utf8");
  expect(rules.filter(({ alert }) => !text.includes(`\`${alert}\``))).toEqual([]);
});
