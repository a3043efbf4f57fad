import { trimEndOf } from "@a2a-connect/core/internal";

/** A block of Markdown. */
export type Block =
  | { readonly is: "heading"; readonly level: number; readonly spans: readonly Span[] }
  | { readonly is: "paragraph"; readonly spans: readonly Span[] }
  | { readonly is: "code"; readonly language: string; readonly text: string }
  | { readonly is: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly is: "list";
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Span[])[];
    }
  | {
      readonly is: "table";
      readonly head: readonly (readonly Span[])[];
      readonly rows: readonly (readonly (readonly Span[])[])[];
    }
  | { readonly is: "rule" };

/** A piece of a line. */
export type Span =
  | { readonly is: "text" | "code"; readonly text: string }
  | { readonly is: "strong" | "em" | "strike"; readonly spans: readonly Span[] }
  | { readonly is: "link"; readonly url: string; readonly label: string };

/** Quotes within quotes; deeper ones are text. */
const maxQuoteDepth = 6;

/**
 * The Markdown that agents write: headings, paragraphs, lists of one level, code, quotes, tables, rules; emphasis, code and links within
 * lines. Everything else, such as HTML, is text. The text is hostile: every line is read once, in time that is linear in
 * its length. An end that has not streamed in yet is as good as one.
 */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.split("\n"), 0);
}

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    if (paragraph.length > 0) blocks.push({ is: "paragraph", spans: parseSpans(paragraph.join("\n")) });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const trimmed = line.trim();
    const fence = /^\s{0,3}(`{3,}|~{3,})\s*([^\s`]*)/.exec(line);
    if (fence !== null) {
      endParagraph();
      const [, mark = "```", language = ""] = fence;
      const end = findEnd(lines, at + 1, (each) => !each.trim().startsWith(mark));
      blocks.push({ is: "code", language, text: lines.slice(at + 1, end).join("\n") });
      at = end;
    } else if (trimmed === "") {
      endParagraph();
    } else if (/^#{1,6}\s/.test(trimmed)) {
      endParagraph();
      const level = trimmed.indexOf(" ") === -1 ? 1 : trimmed.search(/[^#]/);
      blocks.push({ is: "heading", level, spans: parseSpans(trimmed.slice(level).trim()) });
    } else if (/^([-*_])(?:\s*\1){2,}$/.test(trimmed) && trimmed.length < 100) {
      endParagraph();
      blocks.push({ is: "rule" });
    } else if (trimmed.startsWith(">") && depth < maxQuoteDepth) {
      endParagraph();
      const end = findEnd(lines, at, (each) => each.trimStart().startsWith(">"));
      const quoted = lines.slice(at, end).map((each) => each.trimStart().replace(/^> ?/, ""));
      blocks.push({ is: "quote", blocks: parseBlocks(quoted, depth + 1) });
      at = end - 1;
    } else if (itemOf(line) !== undefined) {
      endParagraph();
      const end = findEnd(lines, at, (each) => itemOf(each) !== undefined || /^\s{2,}\S/.test(each));
      blocks.push(parseList(lines.slice(at, end)));
      at = end - 1;
    } else if (trimmed.includes("|") && isTableRule(lines[at + 1])) {
      endParagraph();
      const end = findEnd(lines, at + 2, (each) => each.includes("|"));
      const [head = [], ...rows] = [line, ...lines.slice(at + 2, end)].map(parseRow);
      blocks.push({ is: "table", head, rows });
      at = end - 1;
    } else {
      paragraph.push(line.trimEnd());
    }
  }
  endParagraph();
  return blocks;
}

function findEnd(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && belongs(lines[end] ?? "")) end += 1;
  return end;
}

function itemOf(line: string): { readonly number: string | undefined; readonly text: string } | undefined {
  const item = /^\s{0,8}(?:[-*+]|(\d{1,9})[.)])\s+(\S.*)$/.exec(line);
  return item === null ? undefined : { number: item[1], text: item[2] ?? "" };
}

function parseList(lines: readonly string[]): Block {
  const first = itemOf(lines[0] ?? "");
  const items: string[] = [];
  for (const line of lines) {
    const item = itemOf(line);
    if (item !== undefined) items.push(item.text);
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  return {
    is: "list",
    isOrdered: first?.number !== undefined,
    start: Number(first?.number ?? 1),
    items: items.map((each) => parseSpans(each)),
  };
}

function isTableRule(line: string | undefined): boolean {
  return line?.includes("-") === true && line.includes("|") && /^[\s|:-]+$/.test(line);
}

function parseRow(line: string): Span[][] {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|");
  return cells.map((cell) => parseSpans(cell.trim()));
}

/** Marks around a piece of a line, longest first. */
const marks = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "strike"],
  ["*", "em"],
  ["_", "em"],
] as const;

const special = /[`*_~[!<h\\]/;

/** Emphasis within emphasis; deeper marks are text. */
const maxSpanDepth = 4;

/** A mark without its counterpart within this many characters is text: else a line of marks would take quadratic time. */
const maxSpanLength = 2_000;

function parseSpans(text: string, depth = 0): Span[] {
  const spans: Span[] = [];
  let plain = "";
  const add = (span: Span): void => {
    if (plain !== "") spans.push({ is: "text", text: plain });
    plain = "";
    spans.push(span);
  };
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + maxSpanLength);
    const next = rest.search(special);
    if (next !== 0) {
      const length = next === -1 ? rest.length : next;
      plain += rest.slice(0, length);
      at += length;
      continue;
    }
    const found = depth < maxSpanDepth ? findSpan(rest, text[at - 1], depth) : undefined;
    if (found === undefined) {
      const isEscape = rest.startsWith("\\") && /^\\[\\`*_~[\]()#|!<>-]/.test(rest);
      plain += isEscape ? (rest[1] ?? "") : (rest[0] ?? "");
      at += isEscape ? 2 : 1;
    } else {
      add(found.span);
      at += found.length;
    }
  }
  if (plain !== "") spans.push({ is: "text", text: plain });
  return spans;
}

/** The span at the beginning of `rest`, and how long it is in the source. */
function findSpan(
  rest: string,
  before: string | undefined,
  depth: number,
): { readonly span: Span; readonly length: number } | undefined {
  const code = /^(`{1,3})(?!`)/.exec(rest);
  if (code !== null) {
    const [, mark = "`"] = code;
    const end = rest.indexOf(mark, mark.length);
    return end === -1
      ? undefined
      : { span: { is: "code", text: rest.slice(mark.length, end) }, length: end + mark.length };
  }
  const link = /^!?\[([^[\]\n]{0,500})\]\(([^()\s]{1,1500})\)/.exec(rest);
  if (link !== null) {
    const [whole, label = "", url = ""] = link;
    return { span: { is: "link", url, label }, length: whole.length };
  }
  const bare =
    before === undefined || /[\s(<]/.test(before) ? /^<?(https?:\/\/[^\s<>]{1,1500})>?/.exec(rest) : null;
  if (bare !== null) {
    const [whole, found = ""] = bare;
    const url = trimEndOf(found, (character) => ".,;:!?)".includes(character));
    return {
      span: { is: "link", url, label: "" },
      length: whole.startsWith("<") ? whole.length : url.length,
    };
  }
  for (const [mark, is] of marks) {
    if (!rest.startsWith(mark)) continue;
    if (mark.startsWith("_") && before !== undefined && /\w/.test(before)) return undefined; // snake_case
    const end = rest.indexOf(mark, mark.length);
    const inner = rest.slice(mark.length, end);
    if (end <= mark.length || /^\s|\s$/.test(inner) || inner.includes("\n\n")) continue;
    return { span: { is, spans: parseSpans(inner, depth + 1) }, length: end + mark.length };
  }
  return undefined;
}
