import { describe, expect, test } from "bun:test";
import { storedText } from "../../../../src/documents/conversion/formats.ts";
import { docxFile, paragraph } from "./office-files.ts";

async function textOf(body: string, options?: Parameters<typeof docxFile>[1]): Promise<string> {
  return (await storedText("a.docx", docxFile(body, options))).text.trim();
}

const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
const p = (content: string) => `<w:p>${content}</w:p>`;

/** A run of an equation. */
const r = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
const e = (content: string, name = "e") => `<m:${name}>${content}</m:${name}>`;
const power = (base: string, above: string) => e(e(r(base)) + e(r(above), "sup"), "sSup");
const property = (parent: string, name: string, value: string) =>
  e(`<m:${name} m:val="${value}"/>`, `${parent}Pr`);

describe("an equation of a Word document is text:", () => {
  test.each([
    ["a fraction", e(e(r("a+b"), "num") + e(r("2c"), "den"), "f"), "(a+b)/2c"],
    ["powers", power("x", "2") + r("+") + power("y", "n+1"), "x^2+y^(n+1)"],
    ["an index", e(e(r("a")) + e(r("ij"), "sub"), "sSub"), "a_ij"],
    ["both", e(e(r("a")) + e(r("i"), "sub") + e(r("2"), "sup"), "sSubSup"), "a_i^2"],
    ["a root", e(e("", "deg") + e(r("b+1")), "rad"), "√(b+1)"],
    ["a cube root", e(e(r("3"), "deg") + e(r("b")), "rad"), "3√b"],
    [
      "a sum",
      e(property("nary", "chr", "∑") + e(r("i=1"), "sub") + e(r("n"), "sup") + e(r("i")), "nary"),
      "∑_(i=1)^n i",
    ],
    ["an integral", e(e(r("0"), "sub") + e(r("1"), "sup") + e(r("f dx")), "nary"), "∫_0^1 f dx"],
    ["brackets", e(property("d", "begChr", "[") + e(r("x")) + e(r("y")), "d"), "[x|y)"],
    [
      "a matrix",
      e(e(e(r("1")) + e(r("0")), "mr") + e(e(r("0")) + e(r("1")), "mr"), "m"),
      "1 0; 0 1",
    ],
    ["a function", e(e(r("sin"), "fName") + e(r("x")), "func"), "sin x"],
    ["a limit", e(e(r("lim")) + e(r("n→∞"), "lim"), "limLow"), "lim_(n→∞)"],
    ["an accent", e(e(r("x")), "acc"), "x\u0302"],
  ])("%s", async (_, content, expected) => {
    const equation = e(content, "oMath");
    const text = (await textOf(p(run("If ") + equation + run(" holds")))).replaceAll("\\", "");
    expect(text).toBe(`If ${expected} holds`);
  });

  test("on lines of their own, in paragraphs and between them", async () => {
    const equation = e(e(r("a=b"), "oMath"), "oMathPara");
    expect(await textOf(p(run("Then")) + equation + p(equation))).toBe("Then\n\na=b\n\na=b");
  });
});

const box = (content: string) => `<w:txbxContent>${content}</w:txbxContent>`;
const shape = (content: string) =>
  `<w:drawing><wp:anchor><a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp><wps:txbx>${box(content)}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>`;
const picture = (content: string, kind = "shape") =>
  `<w:pict><v:${kind}><v:textbox>${box(content)}</v:textbox></v:${kind}></w:pict>`;
const alternatives = (choice: string, fallback: string) =>
  `<mc:AlternateContent><mc:Choice Requires="wps">${choice}</mc:Choice><mc:Fallback>${fallback}</mc:Fallback></mc:AlternateContent>`;

test.each([
  ["a shape", shape(paragraph("Boxed"))],
  ["a picture", picture(paragraph("Boxed"))],
  ["a picture of another form", picture(paragraph("Boxed"), "oval")],
  [
    "a shape and a picture for older programs",
    alternatives(shape(paragraph("Boxed")), picture(paragraph("Boxed"))),
  ],
  ["a shape without an alternative", alternatives(shape(paragraph("Boxed")), "")],
  ["an alternative to another thing", alternatives("<w:other/>", picture(paragraph("Boxed")))],
])("the text box of a Word document in %s is read once", async (_, content) => {
  const text = await textOf(p(`${run("Before")}<w:r>${content}</w:r>`) + p(run("After")));
  expect(text).toBe("Before\n\nBoxed\n\nAfter");
});

test("a text box of a Word document in a text box is read once", async () => {
  const inner = alternatives(shape(paragraph("Inner")), picture(paragraph("Inner")));
  const outer = p(`${run("Outer")}<w:r>${inner}</w:r>`);
  const content = alternatives(shape(outer), picture(outer));
  expect(await textOf(p(`<w:r>${content}</w:r>`))).toBe("Outer\n\nInner");
});

const mark = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
const field = (instruction: string, result: string) =>
  mark("begin") + instruction + mark("separate") + result + mark("end");
const instruction = (text: string) => `<w:r><w:instrText>${text}</w:instrText></w:r>`;

test.each([
  ["simple field", `<w:fldSimple w:instr=" PAGE ">${run("7")}</w:fldSimple>`, "On 7."],
  ["complex field", field(instruction(" PAGE "), run("7")), "On 7."],
  ["field with an instruction in runs", field(run(" IF a "), run("7")), "On 7."],
  [
    "field in the instruction of another one",
    field(instruction("IF ") + field(instruction("X"), run("no")) + run(" = 1"), run("7")),
    "On 7.",
  ],
  [
    "field in the result of another one",
    field(instruction("X"), field(instruction("Y"), run("7"))),
    "On 7.",
  ],
  ["field without a result", mark("begin") + run(" XE a ") + mark("end"), "On ."],
  ["field without an end", mark("begin") + run("7"), "On 7."],
])(
  "a Word document has the result of a %s, and not its instruction",
  async (_, content, expected) => {
    expect(await textOf(p(run("On ") + content + run(".")))).toBe(expected);
  },
);

test.each([
  ["right to left", `<w:bdo w:val="rtl">${run("text")}</w:bdo>`],
  ["of another direction", `<w:dir w:val="rtl">${run("text")}</w:dir>`],
  [
    "with its pronunciation",
    `<w:r><w:ruby><w:rt>${run("spoken")}</w:rt><w:rubyBase>${run("text")}</w:rubyBase></w:ruby></w:r>`,
  ],
])("a word of a Word document %s is read", async (_, content) => {
  expect(await textOf(p(run("A ") + content))).toBe("A text");
});

const style = (id: string, name: string, content = "") =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${content}</w:style>`;
const basedOn = (id: string) => `<w:basedOn w:val="${id}"/>`;
const outline = (level: number) => `<w:pPr><w:outlineLvl w:val="${level}"/></w:pPr>`;

test.each([
  [
    "a built-in style in another language",
    style("berschrift2", "heading 2"),
    paragraph("A", "berschrift2"),
    "## A",
  ],
  [
    "a style based on a heading",
    style("H", "heading 2") + style("B", "Mine", basedOn("H")),
    paragraph("A", "B"),
    "## A",
  ],
  [
    "a style based on such a style",
    style("H", "heading 3") + style("B", "Mine", basedOn("H")) + style("C", "Own", basedOn("B")),
    paragraph("A", "C"),
    "### A",
  ],
  [
    "a style based on Title",
    style("T", "Title") + style("B", "Cover", basedOn("T")),
    paragraph("A", "B"),
    "# A",
  ],
  [
    "a style based on Subtitle",
    style("S", "Subtitle", basedOn("T")) + style("T", "Title"),
    paragraph("A", "S"),
    "## A",
  ],
  ["a style with an outline level", style("O", "Own", outline(1)), paragraph("A", "O"), "## A"],
  ["an outline level of its own", "", p(outline(2) + run("A")), "### A"],
  [
    "an outline level over that of its style",
    style("O", "Own", outline(1)),
    p(`<w:pPr><w:pStyle w:val="O"/><w:outlineLvl w:val="0"/></w:pPr>${run("A")}`),
    "# A",
  ],
  ["a level that Markdown does not have", style("H", "heading 8"), paragraph("A", "H"), "###### A"],
  [
    "no heading, by the level of text",
    style("H", "heading 1") + style("T", "TOC Heading", basedOn("H") + outline(9)),
    paragraph("A", "T"),
    "A",
  ],
  [
    "no heading, with styles based on each other",
    style("A", "One", basedOn("B")) + style("B", "Two", basedOn("A")),
    paragraph("A", "A"),
    "A",
  ],
])("a paragraph of a Word document is %s", async (_, styles, body, expected) => {
  expect(await textOf(body, { styles })).toBe(expected);
});

test("the parts of a Word document that cannot be read are named", async () => {
  const graphic = (kind: string) =>
    `<w:r><w:drawing><wp:inline><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/${kind}"/></a:graphic></wp:inline></w:drawing></w:r>`;
  const body =
    p(run("Text") + graphic("chart") + graphic("chart") + graphic("diagram") + graphic("picture")) +
    p('<w:r><w:object><o:OLEObject ProgID="Equation.3"/></w:object></w:r>') +
    p('<w:r><w:sym w:font="Nobody" w:char="F123"/></w:r>') +
    `<w:unknown>${run("lost")}</w:unknown><w:permStart/><w:altChunk r:id="r9"/>`;
  const { text, leftOut } = await storedText("a.docx", docxFile(body));
  expect(text.trim()).toBe("Text");
  expect(leftOut).toEqual([
    "has parts that are left out: chart (2 times), diagram, object of another program, document in it, " +
      "character F123 of the font Nobody, element w:unknown",
  ]);
});

test("a Word document whose title names nothing has its heading as the title", async () => {
  const body = paragraph("Plan", "Heading1");
  expect(await textOf(body, { title: "Microsoft Word - plan.doc" })).toBe("# Plan");
});
