import { file_lf_a2a_v1_a2a } from "@a2a-connect/proto";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import fc from "fast-check";
import { anyCharacter } from "../../packages/core/test-support/any-character.ts";

/** One change of a JSON text that leaves it JSON, or nearly so. `place` picks a value of it, `pick` what it becomes. */
export interface JsonEdit {
  readonly kind: "drop" | "repeat" | "replace" | "rename" | "swap" | "wrap" | "text";
  readonly place: number;
  readonly pick: number;
  /** What `text` puts there. */
  readonly text: string;
}

export const jsonEdit: fc.Arbitrary<JsonEdit> = fc.record({
  kind: fc.constantFrom("drop", "repeat", "replace", "replace", "rename", "swap", "wrap", "text"),
  place: fc.nat({ max: 9_999 }),
  pick: fc.nat({ max: 9_999 }),
  text: fc.string({ unit: anyCharacter, maxLength: 6 }),
});

/** A JSON value that may have one name twice, and literals that are none. */
type Node =
  | { readonly text: string }
  | { readonly items: Member[] }
  | { readonly members: (Member & { name: string })[] };

interface Member {
  value: Node;
}

/** The text of a JSON value after these changes. */
export function editJson(json: unknown, edits: readonly JsonEdit[]): string {
  const root: Node & { items: Member[] } = { items: [{ value: toNode(json) }] };
  for (const edit of edits) applyEdit(root, edit);
  return root.items.map(({ value }) => formatNode(value)).join(",");
}

function toNode(json: unknown): Node {
  if (Array.isArray(json)) return { items: json.map((value) => ({ value: toNode(value) })) };
  if (typeof json !== "object" || json === null) return { text: JSON.stringify(json) };
  return { members: Object.entries(json).map(([name, value]) => ({ name, value: toNode(value) })) };
}

function formatNode(node: Node): string {
  if ("text" in node) return node.text;
  if ("items" in node) return `[${node.items.map(({ value }) => formatNode(value)).join(",")}]`;
  return `{${node.members.map(({ name, value }) => `${JSON.stringify(name)}:${formatNode(value)}`).join(",")}}`;
}

/** Every value below a node, with the list that it is in. */
function placesIn(node: Node): { readonly list: Member[]; readonly member: Member }[] {
  const list: Member[] = "items" in node ? node.items : "members" in node ? node.members : [];
  return list.flatMap((member) => [{ list, member }, ...placesIn(member.value)]);
}

function applyEdit(root: Node, { kind, place, pick, text }: JsonEdit): void {
  const places = placesIn(root);
  const chosen = places[place % places.length];
  const other = places[pick % places.length];
  if (chosen === undefined || other === undefined) return; // an edit before this one has dropped everything
  const { list, member } = chosen;
  const at = list.indexOf(member);
  switch (kind) {
    case "drop":
      list.splice(at, 1);
      return;
    case "repeat":
      list.splice(at, 0, structuredClone(member));
      return;
    case "replace":
      member.value = { text: literals[pick % literals.length] ?? "" };
      return;
    case "rename":
      Object.assign(member, { name: names[pick % names.length] }); // in an array, a name has no effect
      return;
    case "swap": {
      const [one, two] = [structuredClone(member.value), structuredClone(other.member.value)];
      member.value = two;
      other.member.value = one;
      return;
    }
    case "wrap": {
      const [before, after, times] = wraps[pick % wraps.length] ?? ["", "", 0];
      member.value = { text: before.repeat(times) + formatNode(member.value) + after.repeat(times) };
      return;
    }
    case "text":
      member.value = { text: JSON.stringify(text) };
      return;
  }
}

const messages = [...nestedTypes(file_lf_a2a_v1_a2a)];

const names: readonly string[] = [
  ...new Set(
    messages.flatMap((desc) =>
      desc.kind === "message" ? desc.fields.flatMap(({ name, jsonName }) => [jsonName, name]) : [],
    ),
  ),
  ..."__proto__ constructor toString jsonrpc id method params @type".split(" "),
  "",
  "\ud800",
  "\0",
  "1e3",
  "n".repeat(3_000),
];

const enumNames = messages.flatMap((desc) =>
  desc.kind === "enum" ? desc.values.map(({ name }) => JSON.stringify(name)) : [],
);

/** Values in place of others: of each kind, at the limits of their type, and some that no JSON has. */
const literals: readonly string[] = [
  ...enumNames,
  '"TASK_STATE_NO_SUCH"',
  ..."null true false 0 -0 -1 1 1.5 1e2 1e400 -1e400 1e-400 2147483647 2147483648 -2147483649".split(" "),
  ..."4294967296 9007199254740993 18446744073709551616 1e19 99999999999999999999999999".split(" "),
  ...'"" "0" "1" "-1" "1e2" " 1" "NaN" "Infinity" "true" "null" "2.0" "AA==" "A" "_-8" "/+8=" "*"'.split(" "),
  ...'"1970-01-01T00:00:00Z" "9999-12-31T23:59:60Z" "2026-02-30T00:00:00Z" "2026-01-01T00:00:00+99:99"'.split(
    " ",
  ),
  ...'"\\u0000" "\\ud800" "\\udc00\\ud800" "\\u202e" "\\ufeff" "\ufffe" "\ud83d\ude42" "e\\u0301" "\u2028"'.split(
    " ",
  ),
  ...'"http://[" "http://127.0.0.1:1/hook" "https://example.com/hook" "../.." "%00" "%zz"'.split(" "),
  ...'{} [] [[]] [{}] [null] {"":{}} {"a":null} {"__proto__":{"a":1}} {"constructor":{"prototype":{}}}'.split(
    " ",
  ),
  ...'{"text":"a","raw":"AA=="} {"text":null,"data":null} {"data":[[[]]]} {"@type":"x"}'.split(" "),
  ...`01 NaN 'a' undefined +1 tru .5 1. 1e "a "\\x" {a:1} [1,] {"a":1,} /**/1`.split(" "),
];

const wraps: readonly (readonly [before: string, after: string, times: number])[] = [
  ["[", "]", 1],
  ["[", "]", 95],
  ["[", "]", 99],
  ["[", "]", 5_000],
  ['{"a":', "}", 1],
  ['{"a":', "}", 95],
  ['{"data":', "}", 2],
  ['{"message":', "}", 1],
  ['{"structValue":{"fields":', "}}", 40],
  ["[", "", 1],
  ["", "}", 1],
];
