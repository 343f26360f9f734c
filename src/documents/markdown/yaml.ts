import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
} from "yaml";
import { numberOf } from "../../domain/json/parse.ts";
import { FRONTMATTER_MAX_ENTRIES } from "../../domain/limits.ts";
import { FrontmatterError } from "./frontmatter-error.ts";
import { type Plain, plainText } from "./plain-yaml.ts";

const FRONTMATTER_MAX_DEPTH = 16;
const FRONTMATTER_MAX_NODES = 4_096;

/** A value that begins with a placeholder of a template, which YAML would read as a map. */
const PLACEHOLDER = /^([ \t]*(?:- +)*(?:[\w-]+:[ \t]+)?)(\{\{[^\r\n]*)$/gm;

function quotedPlaceholders(yaml: string): string {
  if (!yaml.includes("{{")) return yaml;
  return yaml.replace(PLACEHOLDER, (_, before: string, value: string) => {
    return `${before}'${value.trimEnd().replaceAll("'", "''")}'`;
  });
}

/**
 * Reads a block that is not plain. Null if it is not a map. Throws a FrontmatterError or an error of the parser.
 *
 * @param scalar makes a value of a scalar that is written as `source`
 */
export function parseYaml(
  source: string,
  scalar: ScalarReader,
): [key: string, value: Plain][] | null {
  const yaml = quotedPlaceholders(source);
  refuseDeepIndicators(yaml);
  const lines = new LineCounter();
  // The core schema has JSON's types only, so dates and the like stay as they were written.
  const document = parseDocument(yaml, {
    schema: "core",
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    merge: false,
    logLevel: "silent",
  });
  const error = document.errors[0];
  if (error !== undefined) {
    // Plus one for the opening fence, which the parser does not see.
    const { line } = lines.linePos(error.pos[0]);
    throw new FrontmatterError(`is not valid YAML at line ${line + 1} (${error.code})`);
  }
  const root = document.contents as Node | null;
  if (root === null) return yaml.trim() === "" ? [] : null;
  if (!isMap(root)) return null;
  if (root.items.length > FRONTMATTER_MAX_ENTRIES) {
    throw new FrontmatterError(`has more than ${FRONTMATTER_MAX_ENTRIES} keys`);
  }
  const budget = { nodes: FRONTMATTER_MAX_NODES, anchors: new Map<string, unknown>(), scalar };
  return root.items.map((pair) => [keyOf(pair.key, budget, 0), toPlain(pair.value, budget, 0)]);
}

/**
 * The YAML parser is recursive, so brackets and block indicators that are nested too deeply are
 * refused before parsing.
 */
function refuseDeepIndicators(yaml: string): void {
  let flow = 0;
  for (const line of yaml.split("\n")) {
    const indicators = /^[\s?:-]*/.exec(line)?.[0].replace(/[^?:-]/g, "").length ?? 0;
    let deepest = flow;
    for (const character of line) {
      if (character === "[" || character === "{") flow++;
      else if ((character === "]" || character === "}") && flow > 0) flow--;
      if (flow > deepest) deepest = flow;
    }
    if (deepest > FRONTMATTER_MAX_FLOW_DEPTH || indicators > FRONTMATTER_MAX_FLOW_DEPTH) {
      throw new FrontmatterError("is nested too deeply");
    }
  }
}

/** Higher than the depth of values, because brackets in quoted text count too. */
const FRONTMATTER_MAX_FLOW_DEPTH = 4 * FRONTMATTER_MAX_DEPTH;

type ScalarReader = (value: unknown, source: string | undefined) => Plain;

interface Budget {
  /** Values that may still be converted. A value counts once more for each alias of it. */
  nodes: number;
  /** The nodes that aliases refer to, by anchor. A later anchor of the same name replaces the earlier one. */
  readonly anchors: Map<string, unknown>;
  readonly scalar: ScalarReader;
}

/** Converts a node to JSON values. Refuses excessive depth and excessive size. */
function toPlain(node: unknown, budget: Budget, depth: number): Plain {
  if (--budget.nodes < 0) throw new FrontmatterError("has too many values");
  if (depth > FRONTMATTER_MAX_DEPTH) throw new FrontmatterError("is nested too deeply");
  if (isAlias(node)) {
    const named = budget.anchors.get(node.source);
    if (named === undefined) throw new FrontmatterError("uses a YAML alias that names nothing");
    return toPlain(named, budget, depth);
  }
  if (isNode(node) && node.anchor !== undefined) budget.anchors.set(node.anchor, node);
  if (isScalar(node)) return budget.scalar(node.value, node.source);
  if (!isCollection(node)) return null;
  if (!isMap(node)) return node.items.map((item) => toPlain(item, budget, depth + 1));
  // With a null prototype, a key such as __proto__ is an ordinary key.
  const map: { [key: string]: Plain } = Object.create(null);
  for (const pair of node.items) {
    if (!isPair(pair)) continue;
    map[keyOf(pair.key, budget, depth + 1)] = toPlain(pair.value, budget, depth + 1);
  }
  return map;
}

/** Keys are texts, as they were written. */
function keyOf(node: unknown, budget: Budget, depth: number): string {
  const plain = toPlain(node, budget, depth);
  return plainText(isScalar(node) ? scalarAsWritten(node.value, node.source) : plain);
}

/** Numbers stay as they were written, so the version `1.10` does not become 1.1. */
export function scalarAsWritten(value: unknown, source: string | undefined): Plain {
  if (typeof value === "number") {
    return Number.isFinite(value) && String(value) === source ? value : (source ?? String(value));
  }
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  return source ?? String(value);
}

/**
 * The value of YAML's core schema. A number keeps its digits: as they are written, or, in a notation that JSON
 * does not have, with the same value.
 */
export function typedScalar(value: unknown, source: string | undefined): Plain {
  if (typeof value !== "number" || source === undefined) return scalarAsWritten(value, source);
  if (/^0[xo]/.test(source)) return numberOf(String(BigInt(source)));
  const [, sign = "", whole = "", fraction = "", exponent = ""] = DECIMAL.exec(source) ?? [];
  // Infinity and NaN, which JSON does not have.
  if (whole + fraction === "") return scalarAsWritten(value, source);
  const digits = whole.replace(/^0+(?=\d)/, "") || "0";
  return numberOf(
    `${sign === "-" ? sign : ""}${digits}${fraction === "" ? "" : `.${fraction}`}${exponent}`,
  );
}

/** A number of YAML: its sign, its digits, and its exponent. */
const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?$/;
