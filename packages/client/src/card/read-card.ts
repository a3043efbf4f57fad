import { findFieldViolations } from "@a2a-connect/core";
import {
  countValues,
  defaultMaxDepth,
  findMissingFields,
  isObject,
  isRequiredField,
  parseMessage,
  scanJson,
  shownList,
  shownText,
} from "@a2a-connect/core/internal";
import { type AgentCard, AgentCardSchema, AgentExtensionSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { CardInvalidError } from "../errors.ts";
import { inputRequiredCapability } from "./lifecycle-params.ts";
import type { NormalizedCard } from "./older-card.ts";
import { isOlderCard, olderSecurityMembers, withOlderInterfaces } from "./older-members.ts";

/** A card, and what is unusual about it. */
export interface ReadCard {
  readonly card: AgentCard;
  /** A sentence each; empty for a card of 1.0 without legacy forms. */
  readonly warnings: readonly string[];
}

/**
 * Reads a card of A2A 1.0, 0.3 or 0.2 from its JSON. Older ones become a message of 1.0, whose interfaces keep their
 * own version; the code for them is loaded then. Unknown fields are ignored (requirement H-6), but for members of older
 * versions that give further addresses, or that alone say who may call.
 *
 * @param what names the card in errors; default `The card`
 * @throws CardInvalidError that names every missing REQUIRED field, and every field of a wrong type
 */
export async function readCard(text: string, what = "The card"): Promise<ReadCard> {
  const json = parseText(text, what);
  const isOlder = isOlderCard(json);
  const { json: readable, warnings, inItsWords } = await normalizeCard(json, isOlder);
  const problems: string[] = [];
  const card = parseCard(readable, problems, isOlder ? ["version"] : []);
  if (card === undefined || problems.length > 0) {
    throw invalidFields(what, [...new Set(problems.map(inItsWords))]);
  }
  return { card, warnings: [...warnings, ...keepInputRequired(json, card), ...modernizeModes(card)] };
}

async function normalizeCard(json: Record<string, unknown>, isOlder: boolean): Promise<NormalizedCard> {
  if (isOlder) {
    return (await import("../on-demand.ts")).normalizeOlderCard(json);
  }
  const offered = withOlderInterfaces(json);
  return olderSecurityMembers(json).length > 0
    ? (await import("../on-demand.ts")).withOlderSecurity(offered)
    : { json: offered, warnings: [], inItsWords: (problem) => problem };
}

/** What a card may have. One of a thousand skills has 40,000; a megabyte of brackets would take as long as 20,000 ordinary cards. */
const maxValues = 100_000;

function parseText(text: string, what: string): Record<string, unknown> {
  if (!/^\s*</.test(text) && countValues(text, maxValues) > maxValues) {
    throw invalidText(what, `has more than ${maxValues} values; each member, object and array counts as two`);
  }
  const json = parseJson(text, what);
  if (!isObject(json)) {
    const kind = Array.isArray(json) ? "an array" : json === null ? "null" : `a ${typeof json}`;
    throw invalidText(what, `must be a JSON object and is ${kind}`);
  }
  const defect = scanJson(text, { maxDepth: defaultMaxDepth, duplicates: "everywhere" });
  if (defect?.kind === "too-deep") throw invalidText(what, `is nested deeper than ${defaultMaxDepth} levels`);
  if (defect?.kind === "duplicate-member") {
    const name = shownText(defect.path.replace(/^.*\./s, ""));
    throw invalidText(what, `has the member "${name}" twice, and it is not known which one counts`);
  }
  if (/__proto__|\\u/.test(text)) dropPrototypes(json); // a name may be spelled with escapes
  return json;
}

function parseJson(text: string, what: string): unknown {
  if (text.trim() === "") {
    throw invalidText(what, "is empty: it is not JSON");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidText(what, whyNotJson(text));
  }
}

/**
 * A member of that name has no meaning for an agent, and a careless copy of it would become a prototype. (A function for
 * `JSON.parse` that leaves it out would cost more than all else, in an agent's megabyte of small values.)
 */
function dropPrototypes(json: unknown): void {
  if (typeof json !== "object" || json === null) return;
  if (Object.hasOwn(json, "__proto__")) Reflect.deleteProperty(json, "__proto__");
  for (const value of Array.isArray(json) ? json : Object.values(json)) dropPrototypes(value);
}

function whyNotJson(text: string): string {
  return /^\s*</.test(text) ? "is a web page or XML, not JSON" : "is not valid JSON";
}

/**
 * The message, or undefined when it cannot be read; all problems go to `problems`.
 *
 * @param mayBeEmpty REQUIRED texts that may be empty
 */
function parseCard(
  json: Record<string, unknown>,
  problems: string[],
  mayBeEmpty: readonly string[],
): AgentCard | undefined {
  const say = ({ field, description }: { readonly field: string; readonly description: string }) =>
    problems.push(field === "" ? description : `${field}: ${description}`);
  for (const field of requiredLists) {
    if ((json[field.jsonName] ?? json[field.name] ?? null) === null) {
      say({ field: field.jsonName, description: "is required" });
    }
  }
  try {
    const card = parseMessage(AgentCardSchema, json);
    findMissingFields(AgentCardSchema, card).forEach((violation) => {
      if (mayBeEmpty.includes(violation.field)) return;
      // Reported above, for a list that is missing.
      if (!problems.includes(`${violation.field}: is required`)) say(violation);
    });
    return card;
  } catch (error) {
    findFieldViolations(error).forEach(say);
    return undefined;
  }
}

/** A missing list looks like an empty one in a message. In nested messages ProtoJSON means the same by both. */
const requiredLists = AgentCardSchema.fields.filter(
  (each) => each.fieldKind === "list" && isRequiredField(each),
);

function invalidText(what: string, problem: string): CardInvalidError {
  return new CardInvalidError(`${what} ${problem}.`, [problem], {
    hint: "Check that the address is that of an agent card; when it is, tell the operator of the agent.",
  });
}

function invalidFields(what: string, problems: readonly string[]): CardInvalidError {
  return new CardInvalidError(`${what} cannot be used: ${shownList(problems)}.`, problems, {
    hint: "Tell the operator of the agent; section 4.4 of the A2A specification describes the fields of a card.",
  });
}

/** `capabilities.inputRequired` of older cards, for which 1.0 has no field. */
function keepInputRequired({ capabilities }: Record<string, unknown>, card: AgentCard): string[] {
  if (!isObject(capabilities) || capabilities["inputRequired"] !== true || card.capabilities === undefined) {
    return [];
  }
  const description = "The agent can ask in the middle of a task (declared by an older card).";
  card.capabilities.extensions.push(
    create(AgentExtensionSchema, { uri: inputRequiredCapability, description }),
  );
  return [
    "capabilities.inputRequired is of an older form: it counts for `requires: { inputRequired: true }`.",
  ];
}

/** `text`, `file` and `data` in place of media types, in the lists of the card and of its skills. */
function modernizeModes(card: AgentCard): string[] {
  const legacy = new Set<string>();
  const convert = (modes: readonly string[]) => toMediaTypes(modes, legacy);
  card.defaultInputModes = convert(card.defaultInputModes);
  card.defaultOutputModes = convert(card.defaultOutputModes);
  for (const skill of card.skills) {
    skill.inputModes = convert(skill.inputModes);
    skill.outputModes = convert(skill.outputModes);
  }
  return legacy.size === 0 ? [] : [`Modes of an older form were read as media types: ${shownList(legacy)}.`];
}

/** Media types for the kinds of parts by which older cards named their modes. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["text", "text/plain"],
  ["file", "application/octet-stream"],
  ["data", "application/json"],
]);

/**
 * Modes as media types, each once. A text that is neither a kind nor a media type stays as it is.
 *
 * @param legacy gets the modes that were converted
 */
function toMediaTypes(modes: readonly string[], legacy: Set<string>): string[] {
  const converted = modes.map((mode) => {
    const mediaType = mediaTypes.get(mode.toLowerCase());
    if (mediaType !== undefined) {
      legacy.add(mode);
    }
    return mediaType ?? mode;
  });
  return [...new Set(converted)];
}
