import type { Static, TSchema } from "@sinclair/typebox";
import { described, listOf, nullableText, text, titled } from "./schemas.ts";

/** The links of one page of a list. */
export const PageInfo = described("PageInfo", "Links to this page and its neighbours.", {
  self: text("This page, as a relative URL."),
  first: nullableText("The first page; null on the first page."),
  next: nullableText("The next page; null on the last page."),
  prev: nullableText("The previous page; null on the first page."),
});
export type PageInfo = Static<typeof PageInfo>;

/** One page of a list. */
export const pageOf = <Item extends TSchema>(title: string, item: Item, description: string) =>
  titled(title, { data: listOf(item, description), page_info: PageInfo });

/** The first `limit` rows of a list, after a key if one is given, or the last ones before a key, in reverse order. */
export interface PageRange<Key> {
  readonly after?: Key | undefined;
  readonly before?: Key | undefined;
  readonly limit: number;
}

/** The links of a list that has one page, and of a first page. */
export const onlyPage = (self: string) => ({ self, first: null, next: null, prev: null });
export const firstPage = (self: string, next: string) => ({ ...onlyPage(self), next });
