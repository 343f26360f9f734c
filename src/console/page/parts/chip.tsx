import { Icon } from "./icon.tsx";

/** A choice that the user can remove. */
export function Chip({ text, onEnd }: { text: string; onEnd: () => void }) {
  return (
    <span class="chip">
      {text}
      <button type="button" aria-label={`End: ${text}`} onClick={onEnd}>
        <Icon name="close" />
      </button>
    </span>
  );
}
