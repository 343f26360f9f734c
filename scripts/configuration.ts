/** Writes docs/configuration.md from the variables of the configuration. */
import { join } from "node:path";
import { ROOT } from "../src/ops/config/caller.ts";
import { VARIABLES } from "../src/ops/config/variables.ts";

const PAGE = join(ROOT, "docs", "configuration.md");

/** The text of docs/configuration.md. */
export function configurationPage(): string {
  const rows = Object.entries(VARIABLES).map(
    ([name, { otherwise, meaning }]) => `| \`${name}\` | ${otherwise} | ${meaning} |\n`,
  );
  return `# Configuration

Environment variables configure the service and its commands. Everything has a default. All faults are reported together,
with the names of the variables, before anything starts.

| variable | default | |
|---|---|---|
${rows.join("")}`;
}

if (import.meta.main) await Bun.write(PAGE, configurationPage());
