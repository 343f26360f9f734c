import { useState } from "preact/hooks";
import { call, type Page } from "../base/api.ts";
import { type Resource, useResource } from "../base/resource.ts";

interface Listing<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A list that grows by a page at each call of `more`. */
export function usePages<T>(path: string): {
  readonly list: Resource<Listing<T>>;
  readonly more: () => void;
} {
  const [pages, setPages] = useState(1);
  const list = useResource(
    `${path}:${pages}`,
    async (signal) => {
      let { data, page_info } = (await call<Page<T>>(path, { signal })).body;
      const items = [...data];
      for (let page = 1; page < pages && page_info.next !== null; page++) {
        ({ data, page_info } = (await call<Page<T>>(page_info.next, { signal })).body);
        items.push(...data);
      }
      return { items, next: page_info.next };
    },
    { keep: true },
  );
  return { list, more: () => setPages((before) => before + 1) };
}
