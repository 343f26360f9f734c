import MarkdownIt from "markdown-it";

/** Lists and quotes may be nested half as deeply, because a list and its items count separately. */
const NESTING_MAX = 100;

/**
 * CommonMark with the tables, the strikethrough and the footnotes of GitHub, and with the additions of sites and
 * note-taking programs: imports, comments and elements of MDX, parts of templates, admonitions, marks, callouts, and
 * links in double brackets.
 */
export const dialect = new MarkdownIt("commonmark", { html: true, maxNesting: NESTING_MAX }).enable(
  ["table", "strikethrough"],
);

// No caller reads the addresses of links, so they are not normalised.
dialect.normalizeLink = (url) => url;

type BlockRule = Parameters<typeof dialect.block.ruler.push>[1];
type InlineRule = Parameters<typeof dialect.inline.ruler.push>[1];

/** Comments of MDX, Obsidian and kramdown, which may have empty lines in them. */
const COMMENTS = [
  ["{/*", "*/}"],
  ["%%", "%%"],
  ["{::comment}", "{:/comment}"],
] as const;

/** The end of the next comment of a kind, and the position up to which the text was searched for it. */
interface CommentSearch {
  from: number;
  end: number;
}

const searches = new WeakMap<object, Map<string, CommentSearch>>();

function searchOf(env: object, closing: string): CommentSearch {
  const all = searches.get(env) ?? new Map<string, CommentSearch>();
  const search = all.get(closing) ?? { from: Number.POSITIVE_INFINITY, end: -1 };
  searches.set(env, all.set(closing, search));
  return search;
}

/** The position at which the end of a comment begins; -1 without an end. Each character is searched once. */
function closingAt(src: string, from: number, closing: string, search: CommentSearch): number {
  if (from < search.from || (search.end >= 0 && search.end < from)) {
    search.from = from;
    search.end = src.indexOf(closing, from);
  }
  return search.end;
}

const comment: BlockRule = (state, startLine, endLine, silent) => {
  const start = (state.bMarks[startLine] as number) + (state.tShift[startLine] as number);
  if (!"{%".includes(state.src[start] ?? " ")) return false;
  const kind = COMMENTS.find(([opening]) => state.src.startsWith(opening, start));
  if (kind === undefined) return false;
  const [opening, closing] = kind;
  const search = searchOf(state.env, closing);
  const end = closingAt(state.src, start + opening.length, closing, search);
  if (end < 0) return false;
  let line = startLine;
  while (line < endLine - 1 && (state.eMarks[line] as number) < end) line++;
  // Text after the comment on its last line makes it a part of a paragraph.
  const rest = state.src.slice(end + closing.length, state.eMarks[line]);
  if (rest.trim() !== "" && line === startLine) return false;
  if (silent) return true;
  state.line = line + 1;
  const token = state.push("comment", "", 0);
  token.map = [startLine, state.line];
  return true;
};

/** An admonition or a tab of MkDocs: a kind or a title, before indented lines. */
const BOX =
  /^(?:(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+[\w-]+)*(?:[ \t]+"([^"\n]*)")?|===[!+]?[ \t]+"([^"\n]+)")[ \t]*$/;
const BOX_INDENT = 4;

const box: BlockRule = (state, startLine, endLine, silent) => {
  const start = (state.bMarks[startLine] as number) + (state.tShift[startLine] as number);
  if (!"!?=".includes(state.src[start] ?? " ")) return false;
  const match = BOX.exec(state.src.slice(start, state.eMarks[startLine]));
  if (match === null) return false;
  const indent = state.blkIndent + BOX_INDENT;
  const isInside = (line: number) => line < endLine && (state.sCount[line] as number) >= indent;
  const first = state.skipEmptyLines(startLine + 1);
  if (!isInside(first)) return false;
  if (silent) return true;
  let end = first;
  for (let line = first; isInside(line); line = state.skipEmptyLines(end)) end = line + 1;
  state.push("box_open", "", 1).map = [startLine, end];
  state.push("paragraph_open", "", 1).map = [startLine, startLine + 1];
  const title = state.push("inline", "", 0);
  title.content = match[1] ?? match[2] ?? "";
  title.map = [startLine, startLine + 1];
  state.push("paragraph_close", "", -1);
  const { lineMax, parentType } = state;
  state.blkIndent = indent;
  state.lineMax = end;
  state.parentType = "blockquote";
  state.md.block.tokenize(state, startLine + 1, end);
  state.parentType = parentType;
  state.lineMax = lineMax;
  state.blkIndent = indent - BOX_INDENT;
  state.push("box_close", "", -1);
  state.line = end;
  return true;
};

/** The beginning of an import or an export of MDX, up to the end of its first line. Prose rarely begins like this. */
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

/** The text of a footnote. A footnote of one word would otherwise be a definition of a link. */
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

/**
 * Shortcodes, and variables and tags that templates of other kinds leave. Two braces before a dot or a dollar sign, between
 * quotes, in TeX and in workflows are examples, which a reader sees.
 */
export const TEMPLATE =
  /\{\{[<%](?:[^<>%}]|[<>%}](?!\}))*?[>%]\}\}|(?<!\\[A-Za-z]{1,32}|[$^_'"])\{\{\{?[-~&#/^!>=]?\s*[A-Za-z_](?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}\}?|\{%(?:[^%{]|%(?!\})|\{(?!%))*%\}/y;
/** Comments of MDX, and anchors or classes in braces. */
const BRACES =
  /\{\/\*[\s\S]*?\*\/\}|\{[#.][\w.:#-][^{}\n]*\}|\{:(?:[^{}"\n]|"[^"\n]*")*\}|(?<!\{)\{[ \t]+[#.][A-Za-z][^{}\n]*\}/y;
/** A comment of Obsidian within a paragraph. */
const OBSIDIAN_COMMENT = /(?<![\p{L}\p{N}%])%%(?:[^%]|%(?!%))+%%/uy;
/** The name by which Obsidian links to a paragraph, at its end. */
const BLOCK_ID = /(?<!\S)\^(?=\d{6}\s*$|[\d-]*[A-Za-z])[A-Za-z\d-]+\s*$/y;
/** Marked text, but not two comparisons. */
const MARKED = /(?<![\p{L}\p{N}=])==(?=[^\s=])([^\n]*?[^\s=])==(?![\p{L}\p{N}=])/uy;
/** An element whose attributes have values in braces or whose name has dots, which HTML does not have; a part of a template. */
const ELEMENT =
  /<\/?(?:(?=[^<]*\{)[A-Za-z][\w-]*|[A-Z]\w*(?:\.\w+)+)(?:\s+(?:[\w:-]+(?:=(?:"[^"]*"|'[^']*'|\{(?:[^{}]|\{[^{}]*\})*\}))?|\{\.{3}[^{}]*\}))*\s*\/?>|<\/?>|<%(?:[^%]|%(?!>))*%>/y;
/** A reference to a footnote, or the beginning of its text. */
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
  if (!silent) readInside(state, state.pos + 1, match[1] as string);
  state.pos = end;
  return true;
};

/** Reads the Markdown between two signs. */
function readInside(state: Parameters<InlineRule>[0], start: number, inside: string): void {
  const { posMax } = state;
  state.pos = start;
  state.posMax = start + inside.length;
  state.md.inline.tokenize(state);
  state.posMax = posMax;
}

const mark: InlineRule = (state, silent) => {
  if (state.src[state.pos] !== "=") return false;
  MARKED.lastIndex = state.pos;
  const match = MARKED.exec(state.src);
  if (match === null) return false;
  const end = MARKED.lastIndex;
  if (!silent) readInside(state, state.pos + 2, match[1] as string);
  state.pos = end;
  return true;
};

dialect.block.ruler.before("fence", "comment", comment, {
  alt: ["paragraph", "reference", "blockquote", "list"],
});
dialect.block.ruler.before("fence", "box", box, { alt: ["paragraph", "blockquote", "list"] });
dialect.block.ruler.before("paragraph", "module", moduleLines);
dialect.block.ruler.before("reference", "footnote", footnote);
dialect.inline.ruler.before("link", "note", hidden("[", NOTE));
dialect.inline.ruler.before("link", "wiki_link", wikiLink);
dialect.inline.ruler.after("image", "reference_text", reference);
dialect.inline.ruler.before("autolink", "template", hidden("{", TEMPLATE));
dialect.inline.ruler.before("autolink", "braces", hidden("{", BRACES));
dialect.inline.ruler.before("autolink", "obsidian_comment", hidden("%", OBSIDIAN_COMMENT));
dialect.inline.ruler.before("autolink", "block_id", hidden("^", BLOCK_ID));
dialect.inline.ruler.before("autolink", "mark", mark);
dialect.inline.ruler.before("html_inline", "element", hidden("<", ELEMENT));
