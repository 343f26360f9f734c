import { createRequire } from "node:module";
import type TurndownService from "turndown";
import { RecordError } from "../errors.ts";

/** Maximum depth of nested elements. Browsers show 512, and the time to read a page grows with its depth times its size. */
const PAGE_DEPTH_MAX = 1_024;
/** Steps of the parser between two checks of the depth. Each reads a character or more. */
const STEPS_PER_LOOK = 1_024;
/** Maximum open elements that a check counts. */
const LOOK_ELEMENTS_MAX = 4 * PAGE_DEPTH_MAX;
/** The parser puts elements into the head or the body of a page unless they are in one of their own. */
const ROOT_ID = "page-root";

interface PageNode {
  readonly nodeName: string;
  readonly lastChild: PageNode | null;
  readonly previousSibling: PageNode | null;
}

/** The parts of Turndown's parser that are used. The package declares no types of its module. */
interface PageParsers {
  createIncrementalHTMLParser(): {
    /** Adds the end of a page, without reading it. */
    end(html: string): void;
    /** Reads on until the function returns true. */
    process(isPaused: () => boolean): boolean;
    document(): PageNode & { getElementById(id: string): TurndownService.Node };
  };
}

const { createIncrementalHTMLParser }: PageParsers = createRequire(require.resolve("turndown"))(
  "@mixmark-io/domino",
);

/** The elements of a page, within one. Throws a RecordError if they are nested too deeply. */
export function parsePage(html: string): TurndownService.Node {
  const parser = createIncrementalHTMLParser();
  const document = parser.document();
  let steps = 0;
  parser.end(`<x-page id="${ROOT_ID}">${html}</x-page>`);
  parser.process(() => {
    if (++steps % STEPS_PER_LOOK === 0 && isDeep(document)) {
      throw new RecordError(`has more than ${PAGE_DEPTH_MAX} elements in each other`);
    }
    return false;
  });
  return document.getElementById(ROOT_ID);
}

/** Whether the elements that are still open, which are the last ones, are nested too deeply. */
function isDeep(document: PageNode): boolean {
  const open: (readonly [PageNode, depth: number])[] = [[document, 0]];
  for (let looked = 0; looked < LOOK_ELEMENTS_MAX; looked++) {
    const [node, depth] = open.pop() ?? [];
    if (node === undefined || depth === undefined) return false;
    if (depth > PAGE_DEPTH_MAX) return true;
    const { lastChild: last } = node;
    if (last === null) continue;
    // Elements that do not belong into a table are put before it.
    const { previousSibling: before } = last;
    if (last.nodeName === "TABLE" && before !== null) open.push([before, depth + 1]);
    open.push([last, depth + 1]);
  }
  return false;
}
