/** Text as rows of a terminal: all but the last are complete. */
export interface Layout {
  readonly complete: readonly string[];
  readonly row: string;
}

/**
 * Lays out text that goes on behind `row`, breaking at spaces where a row would reach `columns`: no row fills the last
 * column, where terminals disagree about what comes next.
 */
export function layOut(row: string, text: string, columns: number): Layout {
  const [first = "", ...others] = text.split("\n");
  const complete: string[] = [];
  let current = wrap(row + first, columns, complete);
  for (const line of others) {
    complete.push(current);
    current = wrap(line, columns, complete);
  }
  return { complete, row: current };
}

/** Pushes the rows of one line that are full, and returns what is left. */
function wrap(line: string, columns: number, complete: string[]): string {
  let rest = line.replaceAll("\t", "    ");
  for (let end = overflow(rest, columns); end !== undefined; end = overflow(rest, columns)) {
    const space = rest.lastIndexOf(" ", end);
    const cut = space > 0 ? space : end;
    complete.push(rest.slice(0, cut));
    rest = rest.slice(space > 0 ? cut + 1 : cut);
  }
  return rest;
}

/** Where the first character stands that has no room, never 0; undefined when all have. */
function overflow(line: string, columns: number): number | undefined {
  let width = 0;
  for (const { segment, index } of graphemes.segment(line)) {
    width += graphemeWidth(segment);
    if (width >= columns && index > 0) {
      return index;
    }
  }
  return undefined;
}

/** Text that takes fewer than `columns`, cut with an ellipsis where it would take more. */
export function fit(text: string, columns: number): string {
  if (textWidth(text) < columns) {
    return text;
  }
  let width = 1; // of the ellipsis
  let cut = "";
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width >= columns) {
      break;
    }
    cut += segment;
  }
  return `${cut}…`;
}

/** Columns that text takes in a terminal, as far as that can be known. */
export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
  }
  return width;
}

const graphemes = new Intl.Segmenter();

function graphemeWidth(grapheme: string): number {
  if (/^\p{Mark}/u.test(grapheme)) {
    return 0;
  }
  return wide.test(grapheme) ? 2 : 1;
}

/** East Asian wide characters and pictures. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
