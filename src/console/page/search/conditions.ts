/** The operators of conditions, with their names in the builder. */
export const OPERATORS = {
  $eq: "is",
  $ne: "is not",
  $gte: "is at least",
  $lte: "is at most",
  $prefix: "begins with",
  $glob: "fits the pattern",
  $exists: "exists",
} as const;
export type Operator = keyof typeof OPERATORS;

type Value = string | number | boolean;

export interface Condition {
  readonly field: string;
  readonly operator: Operator;
  readonly value: Value;
}

const isValue = (value: unknown): value is Value =>
  ["string", "number", "boolean"].includes(typeof value);

/** The conditions of a filter, which must all hold; undefined for a filter that the builder cannot show. */
export function conditionsOf(filter: Readonly<Record<string, unknown>>): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [field, compared] of Object.entries(filter)) {
    const operators = isValue(compared) ? { $eq: compared } : compared;
    if (field.startsWith("$") || typeof operators !== "object" || operators === null) return;
    for (const [operator, value] of Object.entries(operators)) {
      if (!(operator in OPERATORS) || !isValue(value)) return;
      conditions.push({ field, operator: operator as Operator, value });
    }
  }
  return conditions;
}

/** A filter in which all conditions must hold. Of two with the same field and operator the later one counts. */
export function filterFrom(conditions: readonly Condition[]): string {
  const filter: Record<string, Record<string, Value>> = {};
  for (const { field, operator, value } of conditions) {
    filter[field] = { ...filter[field], [operator]: value };
  }
  return conditions.length === 0 ? "" : JSON.stringify(filter);
}

/** The typed text as a value of one of a field's types. */
export function typedValue(text: string, types: readonly string[]): Value {
  const number = Number(text);
  if (types.includes("number") && text.trim() !== "" && Number.isFinite(number)) return number;
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
}
