/** One element of `Forwarded`: its parameters by their names in lower case. */
export type ForwardedElement = ReadonlyMap<string, string>;

/**
 * Each pattern matches at the current index. So a text that does not fit ends the reading, and no character is read
 * again.
 */
const blanks = /[ \t]*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const equals = /=/y;
const quotedString = /"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"/y;
const separatorOrEnd = /[;,]|$/y;

/**
 * Reads the field `Forwarded` (RFC 7239 §4): its elements in order, without empty ones. Undefined when any part is
 * malformed. Blanks around separators are accepted, because many proxies write them.
 */
export function parseForwarded(text: string): readonly ForwardedElement[] | undefined {
  const reader = new FieldReader(text);
  const elements: ForwardedElement[] = [];
  let element = new Map<string, string>();
  for (;;) {
    reader.take(blanks);
    const name = reader.take(token)?.toLowerCase();
    if (name !== undefined) {
      const value = reader.take(equals) && takeValue(reader);
      if (value === undefined || element.has(name)) return undefined;
      element.set(name, value);
      reader.take(blanks);
    }
    const separator = reader.take(separatorOrEnd);
    if (separator === undefined) return undefined;
    if (separator === ";") continue;
    if (element.size > 0) elements.push(element);
    if (separator === "") return elements;
    element = new Map();
  }
}

/** `192.0.2.60`, `192.0.2.60:4711`, `[2001:db8::1]:4711`; names and `unknown` are not addresses. */
export function nodeAddress(node: string | undefined): string | undefined {
  if (node === undefined) return undefined;
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(node);
  return bracketed?.[1] ?? node.replace(/:\d+$/, "");
}

/** A token or a quoted string (RFC 9110 §5.6.4). */
function takeValue(reader: FieldReader): string | undefined {
  return reader.take(token) ?? reader.take(quotedString)?.slice(1, -1).replaceAll(/\\(.)/g, "$1");
}

/** A text that is read from left to right. */
class FieldReader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next text, if the pattern matches it. */
  take(kind: RegExp): string | undefined {
    kind.lastIndex = this.#position;
    const [taken] = kind.exec(this.#text) ?? [];
    this.#position += taken?.length ?? 0;
    return taken;
  }
}
