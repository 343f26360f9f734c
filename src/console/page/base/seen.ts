import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** True once an element has been on the screen. Its contents are loaded only then. */
export function useSeen(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      watcher.disconnect();
    });
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
  return seen;
}
