/** Outlines on a grid of 16 units, drawn with the colour of the text around them. */
const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14",
  close: "m4 4 8 8M12 4l-8 8",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "m3 8.5 3.2 3.2L13 4.5",
  file: "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3",
  folder: "M1.5 3.5h5l1.5 2h6.5v8h-13z",
  upload: "M8 10.5v-8M4.5 5.5 8 2l3.5 3.5M2 10.5v3.5h12v-3.5",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9",
  leave: "M9.5 2.5h-7v11h7M6.5 8H14M11 5l3 3-3 3",
  plus: "M8 3v10M3 8h10",
  chevron: "m6 3.5 4.5 4.5L6 12.5",
  back: "M10 3.5 5.5 8l4.5 4.5",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing next to a text or in a button with a label, so it does not need a label. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
