import MarkdownIt from "markdown-it";

/** Lists and quotes may be nested half as deeply, because a list and its items count separately. */
const NESTING_MAX = 100;

/**
 * CommonMark with the tables, the strikethrough and the footnotes of GitHub, and with what sites and note-taking
 * programs add: imports, comments and elements of MDX, shortcodes, callouts and links in double brackets.
 */
export const dialect = new MarkdownIt("commonmark", { html: true, maxNesting: NESTING_MAX }).enable(
  ["table", "strikethrough"],
);

// Addresses of links are not read, only that they are addresses.
dialect.normalizeLink = (url) => url;

type BlockRule = Parameters<typeof dialect.block.ruler.push>[1];
type InlineRule = Parameters<typeof dialect.inline.ruler.push>[1];

/** Where the next comment of MDX ends, and up to where this has been looked for. */
interface CommentSearch {
  from: number;
  end: number;
}

const COMMENT = "{/*";
const COMMENT_END = "*/}";

const searches = new WeakMap<object, CommentSearch>();

function searchOf(env: object): CommentSearch {
  const search = searches.get(env) ?? { from: Number.POSITIVE_INFINITY, end: -1 };
  searches.set(env, search);
  return search;
}

/** The end of the comment that begins at a position; -1 if it is not closed. Each character is searched once. */
function commentEnd(src: string, at: number, search: CommentSearch): number {
  const from = at + COMMENT.length;
  if (from < search.from || (search.end >= 0 && search.end < from)) {
    search.from = from;
    search.end = src.indexOf(COMMENT_END, from);
  }
  return search.end;
}

const comment: BlockRule = (state, startLine, endLine, silent) => {
  const start = (state.bMarks[startLine] as number) + (state.tShift[startLine] as number);
  if (!state.src.startsWith(COMMENT, start)) return false;
  const end = commentEnd(state.src, start, searchOf(state.env));
  if (end < 0) return false;
  if (silent) return true;
  let line = startLine;
  while (line < endLine - 1 && (state.eMarks[line] as number) < end) line++;
  // Text after the comment on its last line makes it a part of a paragraph.
  const rest = state.src.slice(end + COMMENT_END.length, state.eMarks[line]);
  if (rest.trim() !== "" && line === startLine) return false;
  state.line = line + 1;
  const token = state.push("comment", "", 0);
  token.map = [startLine, state.line];
  return true;
};

/** What an import or an export of MDX begins with, up to its first line's end; prose rarely does. */
const MODULE_LINE =
  /^(?:import\s*(?:["']|[^"'\n]{0,400}\bfrom\s*["']|(?:type\s+)?\{[^}\n]*$)|export\s+(?:(?:const|let|var)\s+[\w$]+\s*[=:]|(?:default\s+)?(?:async\s+)?(?:function|class)\b|default\s*[({[]|default\s+[\w$.]+;?\s*$|[{*]))/;

/** Imports and exports, which go on to the next empty line. */
const moduleLines: BlockRule = (state, startLine, endLine, silent) => {
  if (state.level > 0 || state.sCount[startLine] !== 0) return false;
  const start = state.bMarks[startLine] as number;
  const first = state.src.charAt(start);
  if (first !== "i" && first !== "e") return false;
  if (!MODULE_LINE.test(state.src.slice(start, state.eMarks[startLine]))) return false;
  if (silent) return true;
  let line = startLine + 1;
  while (line < endLine && !state.isEmpty(line)) line++;
  state.line = line;
  const token = state.push("module", "", 0);
  token.map = [startLine, line];
  return true;
};

const paragraph = dialect.block.ruler.getRules("").at(-1) as BlockRule;

/** The text of a footnote, which of one word would be a definition of a link. */
const footnote: BlockRule = (state, startLine, endLine, silent) => {
  const start = (state.bMarks[startLine] as number) + (state.tShift[startLine] as number);
  return state.src.startsWith("[^", start) && paragraph(state, startLine, endLine, silent);
};

/** Reads a pattern at the position, for a rule that adds a token without text. */
function hidden(character: string, pattern: RegExp): InlineRule {
  return (state, silent) => {
    if (state.src[state.pos] !== character) return false;
    pattern.lastIndex = state.pos;
    if (!pattern.test(state.src)) return false;
    if (!silent) state.push("html_inline", "", 0).content = " ";
    state.pos = pattern.lastIndex;
    return true;
  };
}

/** Comments of MDX, shortcodes of Hugo, Jekyll and others, and anchors or classes in braces. */
const BRACES =
  /\{\/\*[\s\S]*?\*\/\}|\{\{[<%](?:[^<>%}]|[<>%}](?!\}))*?[>%]\}\}|\{%[^{}]*%\}|\{[#.:][\w.:#-][^{}\n]*\}/y;
/** An element whose attributes have values in braces or whose name has dots, which HTML does not have. */
const ELEMENT =
  /<\/?(?:(?=[^<]*\{)[A-Za-z][\w-]*|[A-Z]\w*(?:\.\w+)+)(?:\s+(?:[\w:-]+(?:=(?:"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\}))?|\{\.{3}[^{}]*\}))*\s*\/?>|<\/?>/y;
/** A reference to a footnote, or the begin of its text. */
const NOTE = /\[\^[^\]\s]+\]:?/y;
const WIKI_LINK = /!?\[\[([^\][|\n]+)(?:\\?\|([^\][\n]+))?\]\]/y;
/** A link to a definition, which may be in another part of the text. */
const REFERENCE = /\[((?:[^\][\\]|\\.)+)\]\[[^\][]*\]/y;

const wikiLink: InlineRule = (state, silent) => {
  const character = state.src[state.pos];
  if (character !== "[" && character !== "!") return false;
  WIKI_LINK.lastIndex = state.pos;
  const match = WIKI_LINK.exec(state.src);
  if (match === null) return false;
  if (!silent) state.push("text", "", 0).content = match[2] ?? (match[1] as string);
  state.pos = WIKI_LINK.lastIndex;
  return true;
};

const reference: InlineRule = (state, silent) => {
  if (state.src[state.pos] !== "[" || /[\p{L}\p{N}_\]]$/u.test(state.src.charAt(state.pos - 1))) {
    return false;
  }
  REFERENCE.lastIndex = state.pos;
  const match = REFERENCE.exec(state.src);
  if (match === null) return false;
  const end = REFERENCE.lastIndex;
  if (!silent) {
    const { pos, posMax } = state;
    state.pos = pos + 1;
    state.posMax = pos + 1 + (match[1] as string).length;
    state.md.inline.tokenize(state);
    state.posMax = posMax;
  }
  state.pos = end;
  return true;
};

dialect.block.ruler.before("fence", "comment", comment, {
  alt: ["paragraph", "reference", "blockquote", "list"],
});
dialect.block.ruler.before("paragraph", "module", moduleLines);
dialect.block.ruler.before("reference", "footnote", footnote);
dialect.inline.ruler.before("link", "note", hidden("[", NOTE));
dialect.inline.ruler.before("link", "wiki_link", wikiLink);
dialect.inline.ruler.after("image", "reference_text", reference);
dialect.inline.ruler.before("autolink", "braces", hidden("{", BRACES));
dialect.inline.ruler.before("html_inline", "element", hidden("<", ELEMENT));
