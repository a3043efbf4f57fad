/** Text that is markup already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text is escaped, markup is not, and `undefined` and `false` are nothing. */
export type MarkupValue = string | number | false | undefined | Markup | readonly MarkupValue[];

/** A template whose values cannot become markup by what is in them: `<p>${nameFromTheServer}</p>`. For HTML and XML. */
export function markup(parts: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(String.raw({ raw: parts }, ...values.map(render)));
}

function render(value: MarkupValue): string {
  if (value instanceof Markup) return value.text;
  if (value === undefined || value === false) return "";
  if (typeof value === "object") return value.map(render).join("");
  return escapeMarkup(String(value));
}

const names: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Also without the characters that XML 1.0 does not have. */
function escapeMarkup(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (character) => names[character] ?? "");
}
