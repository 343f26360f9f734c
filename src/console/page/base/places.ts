import type { Project } from "./service.ts";

/** An environment or a release, as operations take it. */
export type Place = { readonly environment: string } | { readonly release: string };

/** The place that addresses and lists call `environment:production`; undefined for another text. */
export function placeOf(text: string): Place | undefined {
  const [, kind, name = ""] = /^(environment|release):(.+)$/s.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return kind === "environment" ? { environment: name } : { release: name };
}

/** The places of a project, for a list to choose from. */
export function placeOptions(project: Project | undefined) {
  const of = (kind: string, group: string, named: readonly { name: string }[]) =>
    named.map(({ name }) => ({ value: `${kind}:${name}`, label: name, group }));
  return [
    ...of("environment", "Environments", project?.environments ?? []),
    ...of("release", "Releases", project?.releases ?? []),
  ];
}

/** The default environment of a project; empty without environments. */
export function defaultEnvironment(project: Project | undefined): string {
  const names = (project?.environments ?? []).map(({ name }) => name);
  return names.includes("production") ? "production" : (names[0] ?? "");
}

export function defaultPlace(project: Project | undefined): string {
  const name = defaultEnvironment(project);
  return name === "" ? "" : `environment:${name}`;
}
