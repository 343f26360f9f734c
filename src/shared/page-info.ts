import { type Static, Type } from "@sinclair/typebox";

const Link = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** The links of one page of a list. */
export const PageInfo = Type.Object(
  {
    self: Type.String({ description: "This page, as a relative URL." }),
    first: Link("The first page; null on the first page."),
    next: Link("The next page; null on the last page."),
    prev: Link("The previous page; null on the first page."),
  },
  { title: "PageInfo", description: "Links to this page and its neighbours." },
);
export type PageInfo = Static<typeof PageInfo>;
