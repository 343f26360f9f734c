/** The parts of an annotation that are read here. Forms consist of annotations. */
export interface Annotation {
  readonly subtype?: string;
  /** A set of bits. */
  readonly annotationFlags?: number;
  readonly contentsObj?: { readonly str?: string };
  /** The lines of a text that the page shows. */
  readonly textContent?: readonly string[];
  readonly fieldType?: string | null;
  readonly fieldName?: string;
  /** The name of a field that its reader sees. */
  readonly alternativeText?: string;
  readonly fieldValue?: string | readonly string[] | null;
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[];
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  /** The value of a field when this button of it is the one that is chosen. */
  readonly exportValue?: string;
  readonly buttonValue?: string;
}

/** Links have the text of the page, and popups that of the annotation to which they belong. */
const WITHOUT_TEXT = /^(?:Link|Popup)$/;
/** The flags Hidden and NoView. */
const INVISIBLE = 0b10_0010;

/** The values of forms and the texts of annotations, each of them once. */
export function annotationTexts(annotations: readonly Annotation[]): string[] {
  const visible = annotations.filter(({ annotationFlags = 0 }) => !(annotationFlags & INVISIBLE));
  const texts = visible.map((each) =>
    each.subtype === "Widget" ? fieldText(each) : noteText(each),
  );
  return [...new Set(texts)].filter((text) => text.trim() !== "");
}

function noteText({ subtype = "", contentsObj, textContent }: Annotation): string {
  if (WITHOUT_TEXT.test(subtype)) return "";
  return contentsObj?.str || (textContent ?? []).join("\n");
}

function fieldText(field: Annotation): string {
  const value = entered(field);
  const { alternativeText: label } = field;
  return label && value !== "" ? `${label}: ${value}` : value;
}

function entered({ fieldType, fieldName = "", ...field }: Annotation): string {
  const { fieldValue: value, options = [], password, alternativeText } = field;
  if (value === undefined || value === null || password === true || fieldType === "Sig") return "";
  if (field.checkBox === true || field.radioButton === true) {
    if (value !== (field.exportValue ?? field.buttonValue) || value === "Off") return "";
    return alternativeText ? String(value) : `${nameOf(fieldName)}: ${value}`;
  }
  const shown = new Map(options.map((option) => [option.exportValue, option.displayValue]));
  return [value]
    .flat()
    .map((each) => shown.get(each) ?? each)
    .join(", ");
}

/** The last part of the name of a field: `Agree` of `form[0].Agree[0]`. */
const nameOf = (field: string) => (field.split(".").at(-1) ?? "").replace(/\[\d+\]$/, "");
