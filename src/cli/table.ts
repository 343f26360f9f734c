/** Formats a table with padded columns. Numbers are right-aligned. */
export function formatTable(header: readonly string[], rows: readonly string[][]): string {
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  const lines = all.map((row) =>
    row
      .map((cell, i) => {
        const width = widths[i] ?? 0;
        return /^\d+$/.test(cell) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
