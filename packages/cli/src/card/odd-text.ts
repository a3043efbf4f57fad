import { findOlderCard } from "./older-card.ts";

/** What a text is instead of a card. */
export interface OddText {
  /** The rest of a sentence about the text. */
  readonly problem: string;
  readonly hint: string;
}

/** What a text that is not JSON looks like; undefined when nothing comes to mind. */
export function describeNotJson(text: string): OddText | undefined {
  if (text.trim() === "") return { problem: "is empty", hint: "a card is one JSON object" };
  if (text.startsWith("\ufeff")) {
    return {
      problem: "begins with a byte order mark, which JSON does not allow",
      hint: "save it as UTF-8 without one: sed -i '1s/^\\xEF\\xBB\\xBF//' FILE",
    };
  }
  if (/^\s*</.test(text)) {
    return { problem: "looks like HTML or XML", hint: "see whether it is the right file: a card is JSON" };
  }
  if (/^\s*-----BEGIN /.test(text)) {
    return { problem: "is PEM, such as a key", hint: "the card comes first, and the key behind --key" };
  }
  if (/^\s*(?:---\s|#|[\w"'-]+:(?:\s|$))/.test(text)) {
    return {
      problem: "looks like YAML, and a card is JSON",
      hint: "convert it first: yq -o json . card.yaml > card.json",
    };
  }
  return undefined;
}

/** What a text that is JSON is instead of a card of 1.0; undefined when nothing comes to mind. */
export function describeOtherJson(text: string): OddText | undefined {
  const json = parse(text);
  if (typeof json !== "object" || json === null) return undefined;
  if ("kty" in json || "keys" in json) {
    return { problem: "is a key or a key set", hint: "the card comes first, and the key behind --key" };
  }
  const older = findOlderCard(json);
  if (older === undefined) return undefined;
  const version = older.version === "" ? "0.3 or before" : older.version;
  return {
    problem: `is a card of A2A ${version} (${older.members.join(", ")}), and cards are signed in the form of 1.0`,
    hint: "write it anew: its URLs go into supportedInterfaces; a2a card get --validate lists what is missing",
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
