import { TypeSystemPolicy } from "@sinclair/typebox/system";
import { filesOf, ROOT, textOf } from "./sources.ts";

// A program that loads the modules of the service and prints, as JSON, the patterns of all schemas and the regular
// expressions that they make of strings. It is a process of its own, in which no module has been loaded before.

const patterns = new Set<string>();
const expressions: { source: string; flags: string }[] = [];

function note(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { pattern, patternProperties = {} } = value as Record<string, unknown>;
  if (typeof pattern === "string") patterns.add(pattern);
  for (const names of Object.keys(patternProperties as object)) patterns.add(names);
}

// TypeBox freezes every schema in this mode.
TypeSystemPolicy.InstanceMode = "freeze";
Object.freeze = (value: unknown) => {
  note(value);
  return value as never;
};
globalThis.RegExp = new Proxy(RegExp, {
  construct(target, args, newTarget) {
    const made = Reflect.construct(target, args, newTarget) as RegExp;
    expressions.push({ source: made.source, flags: made.flags });
    return made;
  },
});

const MAKES = /typebox"|new RegExp\(/;
for (const file of filesOf("src/**/*.ts").filter((name) => MAKES.test(textOf(name)))) {
  await import(`${ROOT}/${file}`);
}
const { HEADERS, PARAMETERS } = await import("../../src/http/openapi/components.ts");
JSON.stringify({ HEADERS, PARAMETERS }, (_, value) => {
  note(value);
  return value;
});
process.stdout.write(JSON.stringify({ patterns: [...patterns], expressions }));
process.exit(0);
