import type { ComponentChildren } from "preact";
import { Empty } from "./states.tsx";

interface Column<T> {
  /** Empty for a column of buttons. */
  readonly name: string;
  readonly value: (row: T) => ComponentChildren;
  /** Numbers are aligned at the end. */
  readonly end?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** The text of a table without rows. */
  readonly empty?: string;
}

/** A table; on a phone each row becomes a card whose lines are named by the columns. */
export function Table<T>({ label, columns, rows, keyOf, empty = "None yet." }: TableProps<T>) {
  if (rows.length === 0) return <Empty title={empty} />;
  const classOf = ({ end, name }: Column<T>) => (end ? "end" : name === "" ? "buttons" : undefined);
  return (
    <table class="table" aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)}>
              {column.name === "" ? <span class="visually-hidden">Actions</span> : column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.name} data-label={column.name} class={classOf(column)}>
                <div>{column.value(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
