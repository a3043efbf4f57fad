import { formatFieldPath, isSame } from "@a2a-connect/core/internal";
import { defined, isObject, type LooseObject, objectOf, readObject } from "../json.ts";

/** What a signature's protected header says; undefined where it says nothing, or no text. */
export type SignatureHeader = Readonly<Partial<Record<"kid" | "alg" | "typ" | "jku", string | undefined>>>;

/**
 * The protected headers of a card's signatures, by their place, for people to see: nothing is verified here, the card need not be
 * valid, and what cannot be read says nothing.
 */
export function readSignatureHeaders(text: string): readonly SignatureHeader[] {
  const { signatures } = readObject(text);
  return Array.isArray(signatures) ? signatures.map(readHeader) : [];
}

/** What a card calls itself; undefined where it does not. */
export function readSubject(text: string): { readonly name?: string; readonly version?: string } {
  const { name, version } = readObject(text);
  return defined({ name: textOrNone(name) || undefined, version: textOrNone(version) || undefined });
}

function readHeader(signature: unknown): SignatureHeader {
  const encoded = textOrNone(objectOf(signature)["protected"]) ?? "";
  const json = Buffer.from(encoded, "base64url").toString("utf8");
  const { kid, alg, typ, jku } = readObject(json);
  return { kid: textOrNone(kid), alg: textOrNone(alg), typ: textOrNone(typ), jku: textOrNone(jku) };
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What was and what is at one place of a card; undefined where there is nothing. */
export interface CardChange {
  readonly path: string;
  readonly was: unknown;
  readonly is: unknown;
}

/** Changes that are told, at most: more of them say no more. */
const maxChanges = 50;

/**
 * In what a card differs from the remembered one, as far as that is remembered: where callers go and what they are asked for first.
 * Both are JSON text, the first as `RememberedCard` has it.
 */
export function findChanges(remembered: string, canonical: string): readonly CardChange[] {
  const changes = compare(outlineOf(readObject(remembered)), outlineOf(readObject(canonical)));
  return [...changes].slice(0, maxChanges);
}

/** Skills by their ids, so that one more in front does not change all the others. */
function outlineOf(card: LooseObject): LooseObject {
  const { supportedInterfaces, securitySchemes, securityRequirements, name, version } = card;
  const entries = [card["skills"] ?? []].flat().map((skill) => {
    const { id, securityRequirements } = objectOf(skill);
    return [String(id), { securityRequirements }];
  });
  const skills = Object.fromEntries(entries);
  return { supportedInterfaces, securitySchemes, securityRequirements, skills, name, version };
}

/** Goes down only where both sides have something to go down into: what is gone as a whole is one change. */
function* compare(was: unknown, is: unknown, path: readonly (string | number)[] = []): Generator<CardChange> {
  const isList = Array.isArray(was) && Array.isArray(is);
  if (isList || (isObject(was) && isObject(is))) {
    const before: LooseObject = { ...was };
    const after: LooseObject = { ...is };
    for (const name of Object.keys({ ...before, ...after })) {
      yield* compare(before[name], after[name], [...path, isList ? Number(name) : name]);
    }
  } else if (!isSame(was, is)) {
    yield { path: formatFieldPath(path), was, is };
  }
}
