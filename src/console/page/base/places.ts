import type { Project } from "./projects.ts";

/** An environment or a release. Its text in addresses and lists is `environment:production`. */
interface Place {
  readonly kind: "environment" | "release";
  readonly name: string;
}

export function parsePlace(text: string | undefined): Place | undefined {
  const [, kind, name] = /^(environment|release):(.+)$/s.exec(text ?? "") ?? [];
  if (kind === undefined || name === undefined) return undefined;
  return { kind: kind as Place["kind"], name };
}

export const placeText = ({ kind, name }: Place): string => `${kind}:${name}`;

/** The places of a project, for a list to choose from. */
export function placeOptions(project: Project | undefined) {
  const of = (kind: Place["kind"], group: string, named: readonly { name: string }[]) =>
    named.map(({ name }) => ({ value: placeText({ kind, name }), label: name, group }));
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
  return placeText({ kind: "environment", name: defaultEnvironment(project) });
}
