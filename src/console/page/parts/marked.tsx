import type { Schemas } from "../base/api.ts";

/** The text of a snippet in pieces, its matches marked by their offsets. */
export function Marked({ of }: { of: Schemas["Snippet"] }) {
  const pieces = [];
  let from = 0;
  for (const [start = 0, end = 0] of of.matches) {
    pieces.push(of.text.slice(from, start));
    pieces.push(<mark key={start}>{of.text.slice(start, end)}</mark>);
    from = end;
  }
  return (
    <>
      {pieces}
      {of.text.slice(from)}
    </>
  );
}
