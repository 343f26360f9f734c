import { expect } from "bun:test";
import type { Answer, Caller, TestApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";

/** The pages of a list, from one on. */
export async function listPages(api: TestApi, from: string, as: Caller): Promise<Json[]> {
  const pages: Json[] = [];
  for (let path: string | null = from; path !== null; path = pages.at(-1).page_info.next) {
    const { status, body, text } = await api.get(path, as);
    expect(status, text).toBe(200);
    pages.push(body);
  }
  return pages;
}

/** All pages of a question that is asked by POST, each by the cursor of the one before. */
export async function questionPages(
  ask: (json: object) => Promise<Answer>,
  question: object,
): Promise<Json[]> {
  const pages: Json[] = [];
  for (let json = question; ; json = { cursor: pages.at(-1).page_info.next }) {
    const { status, body, text } = await ask(json);
    expect(status, text).toBe(200);
    pages.push(body);
    if (body.page_info.next === null) return pages;
  }
}
