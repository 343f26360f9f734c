// What the inputs of fuzzed parsers are made of: whole examples, and the words of each language.

export const FENCED = [
  "---\ntitle: A\ntags: [a, b]\n---\n# A\n\ntext\n",
  "+++\ntitle = 'A'\n[b]\nc = 1979-05-27\n+++\n# A\n",
];
export const YAML = [
  "---",
  "...",
  "- ",
  ": ",
  "&a ",
  "*a",
  "<<: ",
  "|\n",
  ">-\n",
  "!!binary ",
  "{",
  "}",
  "[",
  "]",
  "? ",
  "'",
  '"',
  "\t",
  "\u2028",
  "\ufeff",
  "# ",
  "\n",
  "__proto__: ",
];
export const TOML = [
  "+++",
  "[",
  "]",
  "[[",
  "]]",
  "=",
  "'''",
  '"""',
  "1979-05-27T07:32:00Z",
  "inf",
  "0x",
  "1e999",
  ".",
  "__proto__",
  "\n",
  "\\u",
];
export const MARKDOWN = [
  "# ",
  "```\n",
  "~~~",
  "| a | b |\n|---|---|\n",
  "> ",
  "1. ",
  "* ",
  "[^1]: ",
  "<!--",
  "-->",
  "<div>",
  "import a from 'b'\n",
  "{",
  "}",
  "$$",
  ":::",
  "\r",
  "\u0000",
  "\ud83d\ude00",
];
export const HTML = [
  "<",
  ">",
  "</",
  "<table>",
  "<tr>",
  "<td>",
  "<pre>",
  "<script>",
  "<!--",
  "&#x",
  "&amp;",
  "<svg>",
  "<template>",
  "<math>",
  "<p ",
  "='",
  '"',
];

export const PDF: readonly string[] = [
  ..."<< >> [ ] ( ) obj endobj stream endstream R 0 1 -1 4294967296 0000000000 xref trailer startxref".split(
    " ",
  ),
  ..."/Type /Page /Pages /Kids /Count /Parent /Root /Info /Size /Prev /Length /Filter /FlateDecode /LZWDecode".split(
    " ",
  ),
  ..."/ASCIIHexDecode /RunLengthDecode /DecodeParms /Predictor /Encrypt /ID /XRefStm /ObjStm /W /Index /Contents".split(
    " ",
  ),
  ..."/Resources /Font /XObject /Form /F1 /X Do Tj TJ ' Tf Td TL T* Tm BT ET q Q cm BI ID EI /Encoding /ToUnicode".split(
    " ",
  ),
  ..."/Type0 /DescendantFonts /UniJIS-UCS2-H /MarkInfo /StructTreeRoot /Outlines /AcroForm /XFA /OCProperties".split(
    " ",
  ),
  "1 0 R",
  "5 0 R",
];

export const XML: readonly string[] = [
  ..."<w:p> </w:p> <w:r> </w:r> <w:t> </w:t> <w:tbl> <w:tr> <w:tc> </w:tc> </w:tr> </w:tbl> <w:br/> <w:tab/>".split(
    " ",
  ),
  ...'<w:pPr> <w:pStyle <w:numPr> <w:ilvl w:val= "Heading1" <w:hyperlink <w:sdt> <w:vMerge/> <w:gridSpan'.split(
    " ",
  ),
  ..."<w:fldChar <w:instrText> <w:footnoteReference <mc:AlternateContent> <w:ins> <w:del> <w:sym &amp; &#0; &x; <!-- -->".split(
    " ",
  ),
  "<![CDATA[",
  "]]>",
  "<!DOCTYPE a [<!ENTITY x 'y'>]>",
];
