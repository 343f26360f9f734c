import { Option } from "commander";
import type { FormatOptions } from "../import/markdown/formats.ts";

const TEXTS: Readonly<Record<keyof FormatOptions, string>> = {
  html: "also .html and .htm files, converted to Markdown",
  asciidoc: "also .adoc and .asciidoc files, converted to Markdown",
  pdf: "also the text of .pdf files, page by page",
  docx: "also the text of .docx files",
  text: "also .txt files and, as .txt, those without an extension",
};

/** The names of the options for formats other than Markdown. */
export const FORMAT_OPTIONS = Object.keys(TEXTS) as (keyof FormatOptions)[];

/** The options for formats other than Markdown in a folder. */
export function formatOptions(): Option[] {
  return FORMAT_OPTIONS.map((name) => new Option(`--${name}`, TEXTS[name]));
}
